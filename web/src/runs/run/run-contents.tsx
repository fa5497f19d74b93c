import type { Run } from "@beckon/client";
import { memo, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { formatBytes } from "../../format/index.ts";
import { RunDeliveries } from "../../subscriptions/index.ts";
import { CopyButton, Tabs } from "../../ui/index.ts";
import { isEnded } from "../patch-run.ts";
import type { Journal } from "./journal/entries.ts";
import { RawJournal } from "./raw-journal.tsx";
import { type RunTab, useRunSearch } from "./run-search.ts";
import { SmartText, ViewSwitch } from "./text-views.tsx";

interface RunContentsProps {
  readonly run: Run;
  readonly journal: Journal;
}

/**
 * The tabs with the run's input, its output and its whole journal. The output is what most people
 * open a run for, so its tab is open if there is one. It is memoized, because the page around it is
 * rendered at each tick of its clock.
 */
export const RunContents = memo(function RunContents({ run, journal }: RunContentsProps) {
  const { tab, change } = useRunSearch();
  const { can } = useWorkspace();
  // Chosen only once. Otherwise, when the run ends, its output would replace the input that a
  // person is reading.
  const [first] = useState<RunTab>(() => (run.output === null ? "input" : "output"));
  const waiting = isEnded(run)
    ? "This run ended without output."
    : "The output appears here when the run has succeeded.";
  return (
    <Tabs
      label="Contents of the run"
      value={tab ?? first}
      onChange={(value) => change({ tab: value as RunTab })}
      items={[
        {
          value: "input",
          label: "Input",
          content: <Contents label="Input" text={run.input} />,
        },
        {
          value: "output",
          label: "Output",
          content:
            run.output === null ? (
              <p className="text-ink-2">{waiting}</p>
            ) : (
              <Contents label="Output" text={run.output} />
            ),
        },
        {
          value: "journal",
          label: "Raw journal",
          content: <RawJournal run={run} journal={journal} />,
        },
        ...(can("subscriptions:read")
          ? [{ value: "deliveries", label: "Deliveries", content: <RunDeliveries run={run} /> }]
          : []),
      ]}
    />
  );
});

const encoder = new TextEncoder();

function Contents({ label, text }: { readonly label: string; readonly text: string }) {
  const { as, change } = useRunSearch();
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="flex items-center gap-2">
        <ViewSwitch value={as} onChange={(chosen) => change({ as: chosen })} />
        <span className="ml-auto font-mono text-label text-ink-3">
          {formatBytes(encoder.encode(text).length)}
        </span>
        <CopyButton text={text} what={label.toLowerCase()} />
      </div>
      <div className="max-w-180 min-w-0">
        <SmartText label={label} text={text} view={as} />
      </div>
    </div>
  );
}
