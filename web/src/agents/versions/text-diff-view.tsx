import { useMemo, useState } from "react";
import { formatCounted } from "../../format/index.ts";
import { Button } from "../../ui/index.ts";
import { type DiffLine, type DiffSection, diffTexts, foldSame } from "./text-diff.ts";

interface TextDiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** A comparison of two texts line by line: removed and added lines. */
export function TextDiff({ label, before, after }: TextDiffProps) {
  // The comparison of long texts takes too long to repeat it at each refetch of the versions.
  const sections = useMemo(() => foldSame(diffTexts(before, after)), [before, after]);
  return (
    <section
      aria-label={label}
      className="min-w-0 overflow-hidden rounded-control border border-rule bg-well py-1 font-mono text-dense"
    >
      {sections.map((section, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a comparison never changes
        <Section key={index} section={section} />
      ))}
    </section>
  );
}

/** Minimum number of unchanged lines that are folded. Folding fewer would save no space. */
const minFolded = 3;

function Section({ section: { folded, lines } }: { readonly section: DiffSection }) {
  const [open, setOpen] = useState(!folded || lines.length < minFolded);
  if (!open)
    return (
      <div className="flex border-y border-rule bg-sheet px-2 first:border-t-0 last:border-b-0">
        <Button size="small" variant="quiet" onClick={() => setOpen(true)}>
          Show {formatCounted(lines.length, "unchanged line")}
        </Button>
      </div>
    );
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a comparison never changes
    <Line key={index} line={line} />
  ));
}

const looks = {
  same: { row: "", part: "", sign: " ", word: "" },
  removed: { row: "bg-flare-soft", part: "bg-flare text-on-flare", sign: "−", word: "Removed: " },
  added: { row: "bg-moss-soft", part: "bg-moss text-page", sign: "+", word: "Added: " },
};

function Line({ line: { kind, parts } }: { readonly line: DiffLine }) {
  const { row, part: mark, sign, word } = looks[kind];
  return (
    <div className={`flex min-h-4.5 ${row}`}>
      <span aria-hidden="true" className="w-7 shrink-0 text-center text-ink-3 select-none">
        {sign}
      </span>
      <span dir="auto" className="min-w-0 flex-1 pr-3 break-words whitespace-pre-wrap">
        {word === "" ? null : <span className="sr-only">{word}</span>}
        {parts.map(({ text, changed }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a comparison never changes
          <span key={index} className={changed ? `rounded-bar ${mark}` : ""}>
            {text}
          </span>
        ))}
      </span>
    </div>
  );
}
