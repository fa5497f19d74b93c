import type { Trigger } from "@beckon/client";
import type { Receiving } from "@beckon/contract";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight, SlidersHorizontal } from "lucide-react";
import { useWorkspace } from "../../data/index.ts";
import { LinkButton, Term } from "../../ui/index.ts";
import { callbackTexts } from "../callback-texts.ts";
import { TriggerSwitch } from "../trigger/trigger-switch.tsx";
import { draftOf } from "./draft.ts";
import { presetsQuery } from "./queries.ts";
import { summariesOf } from "./summaries.ts";

interface ReceivingPanelProps {
  readonly trigger: Trigger;
  readonly receiving: Receiving;
}

/** What a trigger accepts and what the agent sees of it. It is closed until a person opens it. */
export function ReceivingPanel({ trigger, receiving }: ReceivingPanelProps) {
  const workspace = useWorkspace();
  const { data: presets } = useQuery(presetsQuery(workspace));
  const summary = summariesOf(draftOf(trigger.prompt_prefix, receiving));
  const href = `/w/${workspace.id}/agents/${trigger.agent_id}/triggers/${trigger.id}/settings`;
  const sender = presets?.find(({ name }) => name === receiving.preset)?.title;
  const filter = receiving.filter === null ? "all requests" : "with a filter";
  const line = [summary.input, filter, summary.verification].join(" · ");
  return (
    <section
      aria-label="Settings"
      className="relative min-w-0 rounded-control border border-rule bg-sheet"
    >
      <details className="group min-w-0">
        <summary className="flex min-h-11 min-w-0 list-none items-center gap-2 rounded-control py-1.5 pr-44 pl-4 hover:bg-hover focus-visible:-outline-offset-2 [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="text-ink-3 transition-transform group-open:rotate-90"
          />
          <h2 className="shrink-0 text-section font-semibold">Settings</h2>
          <span
            className="min-w-0 truncate text-dense text-ink-2 group-open:hidden max-sm:hidden"
            title={line}
          >
            {line}
          </span>
        </summary>
        <div className="flex min-w-0 flex-col gap-4 px-4 pt-2 pb-4 sm:pl-10">
          <dl className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-2 max-sm:[&>dt]:-mb-2 sm:grid-cols-[11rem_minmax(0,1fr)]">
            <Term name="Sender">{sender ?? "Settings of your own"}</Term>
            <Term name="What the agent sees">{summary.input}</Term>
            <Term name="Filter">
              {receiving.filter === null ? (
                summary.filter
              ) : (
                <code className="font-mono text-dense">{summary.filter}</code>
              )}
            </Term>
            <Term name="Verification">{summary.verification}</Term>
            <Term name="Event id and type">{summary.events}</Term>
            <Term name="Bodies and limits">{summary.bodies}</Term>
            <Term name="While paused or disabled">{summary.availability}</Term>
            <Term name="Web forms">{summary.forms}</Term>
          </dl>
          <div>
            <TriggerSwitch trigger={trigger} field="allows_callback" {...callbackTexts} />
          </div>
        </div>
      </details>
      {/* The link is not inside the summary, because screen readers may not announce a control
          within another control. */}
      <span className="absolute top-2 right-4">
        <LinkButton href={href} icon={SlidersHorizontal} size="small">
          Edit and preview
        </LinkButton>
      </span>
    </section>
  );
}
