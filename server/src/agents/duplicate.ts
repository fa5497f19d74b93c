import { type Agent, duplicateAgentBody } from "@beckon/contract";
import { type Context, permit, permitAllAgents } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { listEncryptedSecrets, requireAgentForChange } from "./records/index.ts";
import { copySecrets } from "./secrets/index.ts";
import { writeAgent } from "./write-agent.ts";

const copySuffix = " (copy)";
const maxNameCharacters = 200;

/**
 * Adds a copy of an agent: the configuration of the current version, copies of the secrets of its
 * tools, and a new token. The new agent has no triggers and is not paused.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `secret_unreadable` if a secret was
 *   encrypted with a master key that is lost.
 */
export async function duplicateAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; body: UnparsedBody };
}): Promise<Once<Agent & { token: string }>> {
  permit(ctx, "agents:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    permitAllAgents(ctx);
    return once(tx, ctx, async () => {
      const { name } = parseBody(duplicateAgentBody, input.body, {});
      const { workspaceId } = ctx;
      const [from, to] = [
        { workspaceId, agentId: row.id },
        { workspaceId, agentId: newId("agt") },
      ];
      const { tools, write } = copySecrets(
        ctx.cipher,
        row.config.tools,
        await listEncryptedSecrets(tx, from),
        { from, to },
      );
      return writeAgent(tx, ctx, {
        agentId: to.agentId,
        config: {
          ...row.config,
          tools,
          name:
            name ??
            `${row.name.slice(0, maxNameCharacters - copySuffix.length).toWellFormed()}${copySuffix}`,
        },
        // The model is not resolved again, so the copy uses the same provider as the original
        // agent, even if the name in `model` now refers to another provider.
        providerId: row.provider_id,
        secrets: write,
        action: "agent.duplicate",
        data: { agent_id: row.id, version: row.version, secrets_copied: write.length },
      });
    });
  });
}
