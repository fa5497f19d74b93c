import { X } from "lucide-react";
import { useState } from "react";
import { formatCounted } from "../format/index.ts";
import { Button } from "../ui/action/button.tsx";
import { CopyButton } from "../ui/action/copy-button.tsx";
import { IconButton } from "../ui/action/icon-button.tsx";
import { ScrollRegion } from "../ui/layout/scroll-region.tsx";
import { type JsonRow, textOf } from "./rows.ts";

interface JsonTextProps {
  readonly row: JsonRow;
  readonly onClose: () => void;
}

/**
 * Number of characters that are shown at first, because the layout of a longer text takes
 * noticeable time.
 */
const maxShown = 10_000;

/**
 * Shows a long string of a JSON tree with its line breaks: at first up to `maxShown` characters, on
 * request all of it.
 */
export function JsonText({ row, onClose }: JsonTextProps) {
  const [whole, setWhole] = useState(false);
  const text = textOf(row.value);
  const isCut = !whole && text.length > maxShown;
  return (
    <div className="border-t border-rule">
      <div className="flex items-center gap-1 py-1 pr-1 pl-3">
        <span className="min-w-0 flex-1 truncate font-mono text-dense">{row.pointer}</span>
        <CopyButton text={text} what="text" />
        <IconButton icon={X} label="Close text" size="small" onClick={onClose} />
      </div>
      <ScrollRegion label={`Text at ${row.pointer}`} variant="bounded">
        <p dir="auto" className="px-3 pb-3 font-mono text-dense break-words whitespace-pre-wrap">
          {isCut ? `${text.slice(0, maxShown)}…` : text}
        </p>
      </ScrollRegion>
      {isCut ? (
        <div className="p-2">
          <Button size="small" onClick={() => setWhole(true)}>
            {`Show all ${formatCounted(text.length, "character")}`}
          </Button>
        </div>
      ) : null}
    </div>
  );
}
