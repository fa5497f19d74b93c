import {
  Ban,
  Bot,
  CircleMinus,
  CirclePause,
  Hourglass,
  OctagonX,
  RotateCw,
  Unplug,
  Wrench,
} from "lucide-react";
import { Spinner } from "../../../ui/index.ts";
import type { TimelineRow } from "./timeline.ts";

const icons = {
  held: CirclePause,
  queued: Hourglass,
  model: Bot,
  tool: Wrench,
  rejected: Ban,
  lost: Unplug,
  resumed: RotateCw,
};

/** The icon of a row; a spinner while a model call or tool call has not ended. */
export function RowIcon({ row }: { readonly row: TimelineRow }) {
  if (row.end === undefined && row.kind !== "queued" && row.kind !== "held")
    return (
      <span className="inline-flex text-tide">
        <Spinner />
      </span>
    );
  const End = row.isFailed ? OctagonX : CircleMinus;
  const Icon = row.kind === "end" ? End : icons[row.kind];
  return (
    <span className={`inline-flex ${row.isFailed ? "text-flare" : "text-ink-3"}`}>
      <Icon aria-hidden />
    </span>
  );
}
