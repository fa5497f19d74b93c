import { useState } from "react";
import { formatCounted } from "../../format/index.ts";
import { Button } from "../action/button.tsx";

interface LongTextProps {
  readonly text: string;
  /** `prose` (the default) uses the sans-serif font, `code` the monospace font. */
  readonly variant?: "prose" | "code";
}

/** A text with more lines than this is folded. */
const maxLines = 20;
/** A text with more characters than this is folded, even if it has no line breaks. */
const maxCharacters = 4_000;

/** A text, shown unchanged. If it has more than 20 lines or 4,000 characters, it is folded. */
export function LongText({ text, variant = "prose" }: LongTextProps) {
  const [open, setOpen] = useState(false);
  const folded = fold(text);
  const isLong = folded.length < text.length;
  return (
    <div className="flex min-w-0 flex-col items-start gap-2">
      <div
        dir="auto"
        className={`w-full min-w-0 break-words whitespace-pre-wrap ${variant === "code" ? "font-mono text-dense" : ""}`}
      >
        {open || !isLong ? text : `${folded}…`}
      </div>
      {isLong ? (
        <Button size="small" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Show less" : `Show all ${sizeOf(text)}`}
        </Button>
      ) : null}
    </div>
  );
}

function sizeOf(text: string): string {
  const lines = text.split("\n").length;
  return lines > maxLines ? formatCounted(lines, "line") : formatCounted(text.length, "character");
}

function fold(text: string): string {
  let end = -1;
  for (let line = 0; line < maxLines; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return text.slice(0, maxCharacters);
  }
  return text.slice(0, Math.min(end, maxCharacters));
}
