import { rotateBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { issueToken } from "../tokens/index.ts";
import { requireAgentForChange } from "./records/index.ts";

/**
 * Issues a new token, even if the previous one was revoked. A previous token that was not revoked
 * stays valid for `grace_seconds` more, by default 0.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function rotateAgentToken({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; body: UnparsedBody };
}): Promise<Once<{ token: string }>> {
  permit(ctx, "agents:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    return once(tx, ctx, async () => {
      const { grace_seconds } = parseBody(rotateBody, input.body, {});
      const token = await issueToken(tx, ctx, { agentId: row.id }, { graceSeconds: grace_seconds });
      await record(tx, ctx, {
        action: "agent.token.rotate",
        target: row.id,
        data: { grace_seconds },
      });
      return { token };
    });
  });
}
