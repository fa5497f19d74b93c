import { useQueryClient } from "@tanstack/react-query";
import { announceChanges, useIdempotencyKey, useWorkspace } from "../../data/index.ts";
import { triggersKey } from "../queries.ts";
import type { TriggerIds } from "../requests/queries.ts";

/** Returns the actions on the secret that a sender shares with a trigger. */
export function useSenderSecret({ id, agent_id }: TriggerIds) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const client = workspace.client.triggers;
  const { keyOf, release } = useIdempotencyKey();
  return {
    reveal: () => client.revealSecret(agent_id, id),
    /** Sets the secret, or generates one if `secret` is absent. */
    set: async (body: { readonly secret?: string; readonly grace_seconds?: number }) => {
      const secrets = await client.setSecret(agent_id, id, body, { idempotencyKey: keyOf(body) });
      release();
      void announceChanges(queryClient, triggersKey(workspace.id, agent_id));
      return secrets;
    },
  };
}
