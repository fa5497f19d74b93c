import { useQueryClient } from "@tanstack/react-query";
import { announceChanges, useRotation, useWorkspace } from "../../data/index.ts";
import { triggersKey } from "../queries.ts";
import type { TriggerIds } from "../requests/queries.ts";

/** Which secret is set, and for how long the previous one stays valid. */
interface Choice {
  readonly from: "beckon" | "sender";
  readonly graceSeconds: number;
}

/** Returns the actions on the secret that a sender shares with a trigger. */
export function useSenderSecret({ id, agent_id }: TriggerIds) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const client = workspace.client.triggers;
  const { unknown, send, release } = useRotation<Choice>(`secret.${id}`, () =>
    announceChanges(queryClient, triggersKey(workspace.id, agent_id)),
  );
  return {
    /** The choice of a call of `set` whose outcome is not known. */
    unknown,
    reveal: () => client.revealSecret(agent_id, id),
    /** Call it after the person was shown the secret that `reveal` has returned. */
    release,
    /** Sets the secret, or generates one if `secret` is absent. */
    set: async (body: { readonly secret?: string; readonly grace_seconds: number }) => {
      const from = body.secret === undefined ? "beckon" : "sender";
      const secrets = await send({ from, graceSeconds: body.grace_seconds }, (options) =>
        client.setSecret(agent_id, id, body, options),
      );
      // A secret of the sender need not be shown, so nothing is repeated if the page was left.
      if (from === "sender") release();
      return secrets;
    },
  };
}
