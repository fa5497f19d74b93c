import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useAgent } from "../../agents/index.ts";
import { isNotFound, RefetchNotice, useIsGone, useWorkspace } from "../../data/index.ts";
import { EmptyState, LinkButton, Problem, Skeleton } from "../../ui/index.ts";
import { triggerQuery, useTriggerId } from "../queries.ts";
import { presetsQuery } from "./queries.ts";
import { SettingsForm } from "./settings-form.tsx";

/** The screen with the settings of a trigger, and a preview of what the model would see. */
export function TriggerSettingsScreen() {
  const workspace = useWorkspace();
  const agent = useAgent();
  const triggerId = useTriggerId() ?? "";
  const trigger = useQuery(triggerQuery(workspace, agent.id, triggerId));
  const presets = useQuery(presetsQuery(workspace));
  const path = `/w/${workspace.id}/agents/${agent.id}/triggers/${triggerId}`;
  const error = trigger.error ?? presets.error;
  const isGone = useIsGone(error);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <title>Settings of a trigger · Beckon</title>
      <div className="-ml-2 flex min-w-0">
        <LinkButton href={path} icon={ArrowLeft} size="small" variant="quiet">
          <span className="max-w-72 truncate sm:max-w-120" dir="auto">
            {trigger.data?.name ?? "The trigger"}
          </span>
        </LinkButton>
      </div>
      {trigger.data !== undefined && presets.data !== undefined && !isGone ? (
        <>
          {/* If the server cannot be reached, the frame of the agent says so. */}
          {isNotFound(trigger.error) ? <RefetchNotice noun="trigger" query={trigger} /> : null}
          <SettingsForm key={trigger.data.id} trigger={trigger.data} presets={presets.data} />
        </>
      ) : error === null ? (
        <div aria-busy="true" className="h-120 rounded-control border border-rule bg-sheet p-4">
          <Skeleton width={60} />
          <span className="sr-only">Loading the settings</span>
        </div>
      ) : isNotFound(error) ? (
        <EmptyState
          action={
            <LinkButton href={`/w/${workspace.id}/agents/${agent.id}/triggers`}>
              Show all triggers
            </LinkButton>
          }
        >
          This agent has no trigger with this id. It may have been deleted.
        </EmptyState>
      ) : (
        <Problem
          error={error}
          title="The settings could not be loaded."
          onRetry={() => {
            void trigger.refetch();
            void presets.refetch();
          }}
        />
      )}
    </div>
  );
}
