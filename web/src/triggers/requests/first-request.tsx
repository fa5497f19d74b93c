import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { Link, StatusMark } from "../../ui/index.ts";
import { OutcomeMark } from "./outcome-mark.tsx";
import { newestRequestsQuery, type TriggerIds } from "./queries.ts";
import { EventName } from "./request-columns.tsx";

/**
 * Shows the newest request of a new trigger. Until one arrives, says that the page waits for it.
 */
export function FirstRequest({ trigger }: { readonly trigger: TriggerIds }) {
  const workspace = useWorkspace();
  const { data: newest, isError } = useQuery(newestRequestsQuery(workspace, trigger));
  const request = newest?.[0];
  const path = `/w/${workspace.id}/agents/${trigger.agent_id}/triggers/${trigger.id}`;
  return (
    <div
      role="status"
      className="flex min-h-control min-w-0 flex-wrap items-center gap-x-3 gap-y-1 rounded-control border border-rule px-3 py-1.5"
    >
      {request === undefined ? (
        <StatusMark
          status={isError ? "waiting" : "listening"}
          word={
            isError ? "Not live: the requests could not be read" : "Waiting for the first request"
          }
        />
      ) : (
        <>
          <span className="min-w-0 flex-1">
            <EventName request={request} />
          </span>
          <OutcomeMark outcome={request.outcome} />
          <Link href={`${path}/requests/${request.id}`}>Open</Link>
        </>
      )}
    </div>
  );
}
