import type { Trigger } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { lastReceivedQuery, recentQuery } from "../queries.ts";

/**
 * Returns when a trigger received something last: null if never, undefined until it is known. One
 * request answers it for all triggers that are in use; each other one needs its own.
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
