import type { TestTriggerBody, Trigger } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useIdempotencyKey, useWorkspace } from "../../data/index.ts";
import { runQuery } from "../../runs/index.ts";
import { lastPayloadsKey } from "../queries.ts";
import { contentTypeOf, type PayloadType } from "./payload.ts";

/**
 * Returns functions that send a test to a trigger, the state of the request, and the id of the run
 * that the last test started.
 */
export function useTestTrigger({ id, agent_id }: Pick<Trigger, "id" | "agent_id">) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf, release } = useIdempotencyKey();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (body: TestTriggerBody) =>
      workspace.client.triggers.test(agent_id, id, body, { idempotencyKey: keyOf(body) }),
    onSuccess: (run) => {
      // Sending the same payload again is another test, so it needs a new Idempotency-Key.
      release();
      queryClient.setQueryData(runQuery(workspace, run.id).queryKey, run);
      return queryClient.invalidateQueries({ queryKey: lastPayloadsKey(workspace.id, agent_id) });
    },
  });
  return {
    send: (type: PayloadType, payload: string) =>
      mutate({ payload, content_type: contentTypeOf(type) }),
    /** Starts a run with a received request, an example, or a payload with headers. */
    sendRequest: (request: NonNullable<TestTriggerBody["request"]>) => mutate({ request }),
    isPending,
    error,
    runId: isPending ? undefined : data?.id,
  };
}
