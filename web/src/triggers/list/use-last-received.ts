import type { Trigger } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { lastReceivedQuery, recentQuery } from "../queries.ts";

/**
 * Returns the time of the last payload of a trigger; null if there was none, undefined while it is
 * not known. One request reads the last 50 payloads of all triggers of the agent. A trigger without
 * a payload among them needs a request of its own.
 */
export function useLastReceived({ id, agent_id }: Trigger): string | null | undefined {
  const workspace = useWorkspace();
  const { data: recent, isError } = useQuery(recentQuery(workspace, agent_id));
  const found = recent?.data.find(({ trigger_id }) => trigger_id === id)?.created_at;
  const isNever = found === undefined && recent?.next === null;
  const needsOwn = found === undefined && !isNever && (recent !== undefined || isError);
  const { data: own } = useQuery({
    ...lastReceivedQuery(workspace, agent_id, id),
    enabled: needsOwn,
  });
  return isNever ? null : (found ?? own);
}
