import { listenBody, type Trigger } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { type Once, once } from "../../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { updateListeningRow } from "../store.ts";
import { requireTriggerForChange, type TriggerInput, toTrigger } from "../trigger.ts";

/**
 * Makes the trigger capture its next verified request as a sample: the request is stored and starts
 * no run. Listening ends with that request, or after the `seconds` in the body of this call.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `conflict` if the trigger stores no
 *   received requests.
 */
export async function listenForSample({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput & { body: UnparsedBody };
}): Promise<Once<Trigger>> {
  permit(ctx, "triggers:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTriggerForChange(tx, ctx, input);
    return once(tx, ctx, async () => {
      const { seconds } = parseBody(listenBody, input.body, {});
      if (row.receiving === null) {
        throw new ApiError(
          "conflict",
          "This trigger stores no received requests. Set receiving first, for example to {}.",
        );
      }
      const changed = await updateListeningRow(tx, row, seconds);
      await record(tx, ctx, { action: "trigger.listen", target: row.id, data: { seconds } });
      return toTrigger(ctx, changed);
    });
  });
}
