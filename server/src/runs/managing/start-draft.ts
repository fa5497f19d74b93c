import { draftRunBody, type Run } from "@beckon/contract";
import {
  findOperatorProviders,
  planDraft,
  requireAgent,
  type ToolAddressServices,
} from "../../agents/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { attemptAsync } from "../../base/errors.ts";
import type { Once } from "../../base/idempotency/index.ts";
import { fieldOf } from "../../base/json/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import type { StartPorts } from "../starting/index.ts";
import { startManaged } from "./start-managed.ts";

/**
 * Checks that the actor can start draft runs. A draft run does the same as changing the agent and
 * then invoking it, so it needs the permissions for both.
 * @throws ApiError `forbidden`
 */
export function permitDraft(ctx: Context): void {
  permit(ctx, "agents:write");
  permit(ctx, "agents:invoke");
}

/**
 * Starts a run of an agent with a configuration that is not saved: the agent's current version with
 * the changes in `config`. The configuration is stored with the run, so that any process can
 * execute and resume it, and is deleted with the run.
 * @returns the new run or, if the Idempotency-Key was used before, the run that the earlier request
 *   started.
 * @throws ApiError `forbidden`, `not_found`, `bad_request`, and the errors of `startManaged`.
 */
export async function startDraftRun({
  ctx,
  input,
}: {
  ctx: Context & ToolAddressServices & { runs: StartPorts };
  input: { agentId: string; body: UnparsedBody };
}): Promise<Once<Run>> {
  permitDraft(ctx);
  const changes = input.body.ok ? fieldOf(input.body.value, "config") : undefined;
  const foundProviders = await findOperatorProviders(ctx, { ok: true, value: changes });
  const { version, planned } = await inWorkspace(
    ctx.database.tenant,
    ctx.workspaceId,
    async (tx) => {
      const agent = await requireAgent(tx, ctx, input.agentId);
      // An error in the body is not thrown here but by `startManaged`, which checks the
      // Idempotency-Key first.
      const planned = await attemptAsync(async () => {
        const { input: payload, config } = parseBody(draftRunBody, input.body);
        return { payload, draft: await planDraft(tx, ctx, agent, config, foundProviders) };
      });
      return { version: agent.version, planned };
    },
  );
  const draft = planned.ok ? planned.value.draft : undefined;
  return startManaged(ctx, {
    source: "draft",
    agentId: input.agentId,
    contentType: null,
    payload: planned.ok ? { ok: true, value: planned.value.payload } : planned,
    details: {
      version,
      promptPrefix: "",
      draft: draft && { config: JSON.stringify(draft.config), providerId: draft.providerId },
    },
    audit: {
      action: "run.start_draft",
      data: { agent_id: input.agentId, version, ...draft?.changes },
    },
  });
}
