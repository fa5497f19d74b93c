import type { Trigger } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import { useAgent } from "../../agents/index.ts";
import { isNotFound, RefetchNotice, useIsGone, useWorkspace } from "../../data/index.ts";
import {
  Banner,
  EmptyState,
  hasUnsavedChanges,
  LinkButton,
  Problem,
  subscribeToUnsaved,
} from "../../ui/index.ts";
import { InputPanel } from "../input/input-panel.tsx";
import { triggerQuery, useTriggerId } from "../queries.ts";
import { ReceivingPanel } from "../receiving/receiving-panel.tsx";
import { SenderHint } from "../receiving/sender-hint.tsx";
import { RequestsPanel } from "../requests/requests-panel.tsx";
import { ConnectionPanel } from "../sender/connection-panel.tsx";
import { PayloadsPanel } from "./payloads-panel.tsx";
import { TriggerHeader } from "./trigger-header.tsx";
import { TriggerSkeleton } from "./trigger-skeleton.tsx";
import { UrlPanel } from "./url-panel.tsx";

/** The screen of a trigger: its URL, its settings, and what it has received. */
export function TriggerScreen() {
  const workspace = useWorkspace();
  const agent = useAgent();
  const triggerId = useTriggerId() ?? "";
  const query = useQuery(triggerQuery(workspace, agent.id, triggerId));
  const { data, error, refetch } = query;
  const isGone = useIsGone(error);
  const path = `/w/${workspace.id}/agents/${agent.id}/triggers`;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="-ml-2 flex lg:hidden">
        <LinkButton href={path} icon={ArrowLeft} size="small" variant="quiet">
          All triggers
        </LinkButton>
      </div>
      {data !== undefined && !isGone ? (
        <>
          {/* If the server cannot be reached, the frame of the agent says so. */}
          {isNotFound(error) ? <RefetchNotice noun="trigger" query={query} /> : null}
          <OpenTrigger key={data.id} trigger={data} />
        </>
      ) : error === null ? (
        <TriggerSkeleton />
      ) : isNotFound(error) ? (
        <EmptyState action={<LinkButton href={path}>Show all triggers</LinkButton>}>
          This agent has no trigger with this id. It may have been deleted.
        </EmptyState>
      ) : (
        <Problem error={error} title="The trigger could not be loaded." onRetry={refetch} />
      )}
    </div>
  );
}

function OpenTrigger({ trigger }: { readonly trigger: Trigger }) {
  const { receiving } = trigger;
  const hasSettings = receiving !== null;
  const isUnsaved = useSyncExternalStore(subscribeToUnsaved, hasUnsavedChanges);
  // Somebody else can choose or remove the sender. The other panels would replace a form with
  // unsaved changes, so they wait until these are saved or discarded.
  const [showsSettings, setShowsSettings] = useState(hasSettings);
  if (showsSettings !== hasSettings && !isUnsaved) setShowsSettings(hasSettings);
  return (
    <>
      <title>{`${trigger.name} · Beckon`}</title>
      <TriggerHeader trigger={trigger} />
      {showsSettings === hasSettings ? null : (
        <Banner tone="warning">
          {`A sender was ${hasSettings ? "chosen" : "removed"} meanwhile. `}
          Save or discard your changes to see the new settings.
        </Banner>
      )}
      {showsSettings ? (
        <>
          <ConnectionPanel trigger={trigger} />
          {receiving === null ? null : <ReceivingPanel trigger={trigger} receiving={receiving} />}
          <RequestsPanel trigger={trigger} />
        </>
      ) : (
        <>
          <UrlPanel trigger={trigger} />
          <InputPanel trigger={trigger} />
          <SenderHint trigger={trigger} />
          <PayloadsPanel trigger={trigger} />
        </>
      )}
    </>
  );
}
