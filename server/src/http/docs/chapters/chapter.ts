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
