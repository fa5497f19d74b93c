import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useAgent } from "../../agents/index.ts";
import { errorOf, isNotFound, useIsGone, useWorkspace } from "../../data/index.ts";
import { EmptyState, LinkButton, Problem, Skeleton } from "../../ui/index.ts";
import { triggerQuery, useTriggerId } from "../queries.ts";
import { requestQuery, useRequestId } from "./queries.ts";
import { RequestPage } from "./request-page.tsx";

/** The screen of a received request: what it contained, what the model saw of it, and its run. */
export function RequestScreen() {
  const workspace = useWorkspace();
  const agent = useAgent();
  const triggerId = useTriggerId() ?? "";
  const requestId = useRequestId();
  const trigger = useQuery(triggerQuery(workspace, agent.id, triggerId));
  const ids = { id: triggerId, agent_id: agent.id };
  const request = useQuery(requestQuery(workspace, ids, requestId));
  const path = `/w/${workspace.id}/agents/${agent.id}/triggers/${triggerId}`;
  const error = errorOf([trigger.error, request.error]);
  const isGone = useIsGone(error);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <title>Received request · Beckon</title>
      <div className="-ml-2 flex min-w-0">
        <LinkButton href={path} icon={ArrowLeft} size="small" variant="quiet">
          <span className="max-w-72 truncate sm:max-w-120" dir="auto">
            {trigger.data?.name ?? "The trigger"}
          </span>
        </LinkButton>
      </div>
      {trigger.data !== undefined && request.data !== undefined && !isGone ? (
        <RequestPage key={request.data.id} trigger={trigger.data} request={request.data} />
      ) : error === null ? (
        <div aria-busy="true" className="flex flex-col gap-4">
          <div className="h-control w-60">
            <Skeleton variant="block" />
          </div>
          <div className="h-80 rounded-control border border-rule bg-sheet p-4">
            <Skeleton width={60} />
          </div>
          <span className="sr-only">Loading the request</span>
        </div>
      ) : isNotFound(error) ? (
        <EmptyState action={<LinkButton href={path}>Show the trigger</LinkButton>}>
          There is no received request with this id. Old requests are deleted, by default after 30
          days.
        </EmptyState>
      ) : (
        <Problem
          error={error}
          title="The request could not be loaded."
          onRetry={() => {
            void trigger.refetch();
            void request.refetch();
          }}
        />
      )}
    </div>
  );
}
