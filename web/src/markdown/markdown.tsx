import { lazy, Suspense } from "react";
import { LongText } from "../ui/text/long-text.tsx";

const Rendered = lazy(async () => ({ default: (await import("./rendered.tsx")).Rendered }));

interface MarkdownProps {
  readonly text: string;
}

/**
 * Renders a model's text as Markdown. Raw HTML is left out, and images become links that show their
 * host. The code of the renderer is loaded on first use; until then the text is shown unformatted.
 */
export function Markdown({ text }: MarkdownProps) {
  return (
    <Suspense fallback={<LongText text={text} />}>
      <Rendered text={text} />
    </Suspense>
  );
}
