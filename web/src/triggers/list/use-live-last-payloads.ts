import { useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { useEvents, useThrottled } from "../../live/index.ts";
import { isNewRun } from "../../runs/index.ts";
import { lastPayloadsKey } from "../queries.ts";

/**
 * Minimum time in milliseconds between two reads of the received payloads, for agents that are
 * called often.
 */
const readIntervalMs = 2_000;

/**
 * After each new run of the agent, refetches the last received payloads of all its triggers. The
 * event of a new run does not say which trigger started the run, or whether one did.
 */
export function useLiveLastPayloads(agentId: string): void {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const readAgain = useThrottled(
    () => queryClient.invalidateQueries({ queryKey: lastPayloadsKey(id, agentId) }),
    readIntervalMs,
  );
  useEvents((events) => {
    if (events.some((event) => event.agent_id === agentId && isNewRun(event))) readAgain();
  });
}
