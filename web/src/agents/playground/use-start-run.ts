import type { UpdateAgentBody } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { useIdempotencyKey, useWorkspace } from "../../data/index.ts";
import { useWatchedStart } from "../../live/index.ts";

/** The input and the settings with which a run is started. */
export interface NewRun {
  readonly input: string;
  /** Unsaved settings; undefined or empty for a run with the saved settings. */
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
