import type { Preview } from "@beckon/contract";
import { CopyButton, ScrollRegion } from "../../ui/index.ts";

interface SeenPartsProps {
  readonly parts: Preview["parts"];
  /** True to show the name of each part, and a line in its colour. Default: false. */
  readonly marked?: boolean;
}

const names: Readonly<Record<Preview["parts"][number]["kind"], string>> = {
  prefix: "Prefix",
  values: "Headers and query",
  message: "Message",
  payload: "Payload",
};

const bars: typeof names = {
  prefix: "border-tide",
  values: "border-brass",
  message: "border-moss",
  payload: "border-edge",
};

/**
 * A run's input as the model sees it, part by part. The copied text is the input itself, whose
 * parts are separated by blank lines.
 */
export function SeenParts({ parts, marked = false }: SeenPartsProps) {
  const text = parts.map((part) => part.text).join("\n\n");
  return (
    <div className="relative min-w-0 rounded-control border border-rule bg-well">
      <ScrollRegion label="Input of the model" variant="bounded">
        <div className="flex min-h-20 min-w-0 flex-col gap-3 py-2 pr-10 pl-3">
          {parts.length === 0 ? <p className="text-dense text-ink-3">Empty</p> : null}
          {parts.map(({ kind, text: part }, index) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity
              key={index}
              className={marked ? `border-l-2 pl-3 ${bars[kind]}` : ""}
            >
              {marked ? <p className="text-label text-ink-3">{names[kind]}</p> : null}
              <pre
                dir="auto"
                className="font-mono text-dense break-words whitespace-pre-wrap"
                data-part={kind}
              >
                {part}
              </pre>
            </div>
          ))}
        </div>
      </ScrollRegion>
      <span className="absolute top-1 right-1 rounded-control bg-well">
        <CopyButton text={text} what="input" />
      </span>
    </div>
  );
}
