import type { Trigger } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { lastPayloadQuery, recentPayloadsQuery } from "../queries.ts";
import { lastRequestQuery } from "../requests/queries.ts";

/**
 * Returns the time when a trigger last received something; null if it never did, undefined while it
 * is not known. For a trigger without settings, only payloads that started a run count, because
 * Beckon stores no other requests to it.
 */
export function useLastReceived(trigger: Trigger): string | null | undefined {
  const hasSettings = trigger.receiving !== null;
  const { data: request, isError } = useQuery({
    ...lastRequestQuery(useWorkspace(), trigger),
    enabled: hasSettings,
  });
  // Runs are also read if no request is stored: the trigger can have started them before it had
  // settings, and requests can be deleted earlier than their runs.
  const needsRuns = !hasSettings || request === null || (request === undefined && isError);
  const payload = useLastPayload(trigger, needsRuns);
  if (needsRuns) return payload;
  // Runs of all triggers are read again after each new run, but requests only of the open trigger.
  // So for other triggers, a run can be newer than the last request that is known.
  return request && payload && payload > request ? payload : request;
}

/**
 * Returns the time of the last payload that started a run; null if there was none, undefined while
 * it is not known. One request reads the last 50 payloads of all triggers of the agent. If none of
 * them is of this trigger, a second request reads the trigger's last payload.
 * @param readsOwn whether the second request is allowed
 */
function useLastPayload({ id, agent_id }: Trigger, readsOwn: boolean): string | null | undefined {
  const workspace = useWorkspace();
  const { data: recent, isError } = useQuery(recentPayloadsQuery(workspace, agent_id));
  const found = recent?.data.find(({ trigger_id }) => trigger_id === id)?.created_at;
  const isNever = found === undefined && recent?.next === null;
  const needsOwn = found === undefined && !isNever && (recent !== undefined || isError);
  const { data: own } = useQuery({
    ...lastPayloadQuery(workspace, agent_id, id),
    enabled: readsOwn && needsOwn,
  });
  return isNever ? null : (found ?? own);
}
