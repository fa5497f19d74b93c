import type { UpdateAgentBody } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { useIdempotencyKey, useWorkspace } from "../../data/index.ts";
import { useWatchedStart } from "../../live/index.ts";

/** What a run is started with. */
export interface NewRun {
  readonly input: string;
  /** Settings that are not saved; undefined or empty for the agent as it is saved. */
  readonly config?: UpdateAgentBody | undefined;
}

/**
 * Returns the mutation that starts a run of the agent, or a draft run if there are unsaved
 * settings. A retry after a lost response does not start a second run.
 */
export function useStartRun(agentId: string) {
  const { client } = useWorkspace();
  const start = useWatchedStart();
  const { keyOf, release } = useIdempotencyKey();
  return useMutation({
    mutationFn: async ({ input, config = {} }: NewRun): Promise<string> => {
      const body = { input, config };
      const idempotencyKey = keyOf(body);
      if (Object.keys(config).length === 0) return start({ agentId, input, idempotencyKey });
      return (await client.agents.startDraftRun(agentId, body, { idempotencyKey })).id;
    },
    onSuccess: release,
  });
}
