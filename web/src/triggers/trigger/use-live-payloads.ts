import type { ListedRun, Trigger } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { payloadsQuery, recentPayloadsQuery } from "../queries.ts";
import { useNewRows } from "../use-new-rows.ts";

/**
 * Keeps a list of received payloads up to date. New rows are added as by `useNewRows`. They are
 * found among the last payloads of all triggers, which the list of triggers reads after each new
 * run of the agent (see `useLiveLastPayloads`): the event of a new run does not name the trigger.
 * @param shown the rows that are shown
 */
export function useLivePayloads({ id, agent_id }: Trigger, shown: readonly ListedRun[]) {
  const workspace = useWorkspace();
  const { data: recent } = useQuery(recentPayloadsQuery(workspace, agent_id));
  const ofTrigger = recent?.data.filter(({ trigger_id }) => trigger_id === id) ?? [];
  const list = payloadsQuery(workspace, agent_id, id);
  return useNewRows(
    list,
    ofTrigger.map((run) => run.id),
    shown,
  );
}
