import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import type { ReactNode } from "react";
import { useWorkspace } from "../../data/index.ts";
import { LinkButton, Panel } from "../../ui/index.ts";
import { callbackTexts } from "../callback-texts.ts";
import type { ReceivingTrigger } from "../receiving-client.ts";
import { TriggerSwitch } from "../trigger/trigger-switch.tsx";
import { draftOf } from "./draft.ts";
import { presetsQuery } from "./queries.ts";
import { summariesOf } from "./summaries.ts";

/** What a trigger accepts and what the agent sees of it, in one line per group of settings. */
export function ReceivingPanel({ trigger }: { readonly trigger: ReceivingTrigger }) {
  const workspace = useWorkspace();
  const { data: presets } = useQuery(presetsQuery(workspace));
  const { receiving } = trigger;
  const summary = summariesOf(draftOf(trigger.prompt_prefix, receiving));
  const href = `/w/${workspace.id}/agents/${trigger.agent_id}/triggers/${trigger.id}/settings`;
  const sender = presets?.find(({ name }) => name === receiving?.preset)?.title;
  return (
    <Panel
      title="Settings"
      actions={
        <LinkButton href={href} icon={SlidersHorizontal} size="small">
          {receiving === null ? "Choose a sender" : "Edit and preview"}
        </LinkButton>
      }
    >
      {receiving === null ? (
        <p className="max-w-160 text-ink-2 text-pretty">
          This trigger accepts any POST of text, JSON or a form. For the webhooks of a service such
          as GitHub or Stripe, choose the sender: Beckon then verifies each request, starts one run
          per event, and stores what arrived.
        </p>
      ) : (
        <div className="flex min-w-0 flex-col gap-4">
          <dl className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-2 sm:grid-cols-[11rem_minmax(0,1fr)]">
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
          <TriggerSwitch trigger={trigger} field="allows_callback" {...callbackTexts} />
        </div>
      )}
    </Panel>
  );
}

function Term({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-ink-3 max-sm:-mb-2">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}
