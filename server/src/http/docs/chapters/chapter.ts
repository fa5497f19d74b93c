import type { Sample } from "../samples.ts";

/** A page of the documentation about a topic that concerns many operations. */
export interface Chapter {
  /** The last part of the page's path. */
  readonly slug: string;
  readonly title: string;
  /** One sentence for the overview page `/docs`. Plain text, with code in backticks. */
  readonly lead: string;
  readonly sections: readonly ChapterSection[];
}

interface ChapterSection {
  readonly id: string;
  readonly title: string;
  /** Paragraphs and tables, as HTML. */
  readonly html: string;
  /**
   * One sample for each language, which the tests execute; undefined for a section without samples.
   */
  readonly samples?: readonly Sample[];
}

/** Returns one sample for each language. */
export function inThreeLanguages({
  curl,
  typescript,
  python,
}: {
  readonly curl: string;
  readonly typescript: string;
  readonly python: string;
}): Sample[] {
  return [
    { language: "curl", label: "curl", code: curl },
    { language: "typescript", label: "TypeScript", code: typescript },
    { language: "python", label: "Python", code: python },
  ];
}
