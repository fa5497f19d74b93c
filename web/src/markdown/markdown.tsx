import { lazy, Suspense } from "react";
import { LongText } from "../ui/text/long-text.tsx";

const Rendered = lazy(async () => ({ default: (await import("./rendered.tsx")).Rendered }));

interface MarkdownProps {
  readonly text: string;
}

/**
 * Text of a model as Markdown: no raw HTML, no images (they become links that show their host).
 * Loaded on first use; until then the text is shown as it was written.
 */
export function Markdown({ text }: MarkdownProps) {
  return (
    <Suspense fallback={<LongText text={text} />}>
      <Rendered text={text} />
    </Suspense>
  );
}
