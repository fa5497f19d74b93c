import { ScrollRegion } from "../../ui/index.ts";
import { inputOf, type PayloadType } from "./payload.ts";

interface InputPreviewProps {
  readonly prefix: string;
  readonly type: PayloadType;
  readonly payload: string;
}

/** A preview of the run's input, updated while the prefix and the payload are typed. */
export function InputPreview({ prefix, type, payload }: InputPreviewProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <h3 className="text-label font-semibold text-ink-2">The agent gets</h3>
      <div className="rounded-control border border-rule bg-well">
        <ScrollRegion label="Resulting input" variant="bounded">
          <pre
            dir="auto"
            className="min-h-30 px-3 py-2 font-mono text-dense break-words whitespace-pre-wrap"
          >
            {inputOf(prefix, type, payload)}
          </pre>
        </ScrollRegion>
      </div>
    </div>
  );
}
