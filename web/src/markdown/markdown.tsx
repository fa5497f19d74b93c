import { useState } from "react";
import { Button } from "../ui/action/button.tsx";
import { lazyPart } from "../ui/lazy-part.tsx";
import { LongText } from "../ui/text/long-text.tsx";
import { useGrowingText } from "./use-growing-text.ts";

const Rendered = lazyPart(async () => (await import("./rendered.tsx")).Rendered, LongText);

/**
 * Maximum number of characters that are rendered without a request. The page does not react while a
 * text is parsed.
 */
const maxCharacters = 50_000;

/**
 * Renders a model's text as Markdown. Raw HTML is left out, and images become links that show their
 * host. The code of the renderer is loaded on first use; until then the text is shown unformatted,
 * as is a text of more than 50,000 characters until a button is pressed.
 */
export function Markdown({ text }: { readonly text: string }) {
  // The text for which the button was pressed. It can have grown since.
  const [requested, setRequested] = useState<string>();
  const shown = useGrowingText(text);
  const isRequested = requested !== undefined && text.startsWith(requested);
  if (text.length <= maxCharacters || isRequested) return <Rendered text={shown} />;
  return (
    <div className="flex min-w-0 flex-col items-start gap-2">
      <LongText text={text} />
      <Button size="small" onClick={() => setRequested(text)}>
        Render as Markdown
      </Button>
    </div>
  );
}
