import { type Agent, duplicateAgentBody } from "@beckon/contract";
import { type Context, permit, permitAllAgents } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { listSealedSecrets, requireAgentForChange } from "./records/index.ts";
import { copySecrets } from "./secrets/index.ts";
import { writeAgent } from "./write-agent.ts";

const mark = " (copy)";
const maxCharacters = 200;

/**
 * A new agent with what the current version of another one holds, its tools' secrets included: it works at once, with a token of its own.
 * It has no triggers and is not paused.
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
        await listSealedSecrets(tx, from),
        { from, to },
      );
      return writeAgent(tx, ctx, {
        agentId: to.agentId,
        config: {
          ...row.config,
          tools,
          name: name ?? `${row.name.slice(0, maxCharacters - mark.length).toWellFormed()}${mark}`,
        },
        // The one it has pinned. That cannot be deleted under our lock, since a living agent uses it.
        providerId: row.provider_id,
        secrets: write,
        action: "agent.duplicate",
        data: { agent_id: row.id, version: row.version, secrets_copied: write.length },
      });
    });
  });
}
