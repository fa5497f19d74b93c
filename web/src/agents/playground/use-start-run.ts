import type { UpdateAgentBody } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { useWatchedStart } from "../../live/index.ts";

/** The input and the settings with which a run is started. */
export interface NewRun {
  readonly input: string;
  /** Unsaved settings; empty for a run with the saved settings. */
  readonly config: UpdateAgentBody;
  readonly idempotencyKey: string;
}

/**
 * Returns the mutation that starts a run of the agent, or a draft run if there are unsaved
 * settings.
 */
export function useStartRun(agentId: string) {
  const { client } = useWorkspace();
  const start = useWatchedStart();
  return useMutation({
    mutationFn: async ({ input, config, idempotencyKey }: NewRun): Promise<string> => {
      if (Object.keys(config).length === 0) return start({ agentId, input, idempotencyKey });
      return (await client.agents.startDraftRun(agentId, { input, config }, { idempotencyKey })).id;
    },
  });
}
