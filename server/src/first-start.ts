import { addAgent } from "./agents/index.ts";
import type { Context } from "./base/context.ts";
import { inWorkspace } from "./base/database/index.ts";
import { ensureBootstrapKey } from "./keys/index.ts";
import { addTrigger } from "./triggers/index.ts";
import { defaultWorkspaceId, ensureDefaultWorkspace } from "./workspaces/index.ts";

/** The demo agent of a first start, with its secrets in clear: shown once, to whoever started Beckon. */
export interface DemoAgent {
  readonly agentId: string;
  readonly agentToken: string;
  readonly triggerToken: string;
}

/**
 * Makes the bootstrap key what the settings say and, at the first start, the workspace `default` with an agent to try: all in one
 * transaction, so that a kill at any moment leaves either nothing or all of it. The caller holds the migration lock.
 * @returns the demo agent if it was made now.
 */
export function firstStart(
  services: Pick<Context, "database" | "cipher">,
  options: { bootstrapKey: string | undefined },
): Promise<DemoAgent | undefined> {
  const ctx: Context = { ...services, actor: { kind: "system" }, workspaceId: defaultWorkspaceId };
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const isFirst = await ensureDefaultWorkspace(tx);
    await ensureBootstrapKey(tx, ctx.workspaceId, options.bootstrapKey);
    if (!isFirst) return undefined;
    const agent = await addAgent(tx, ctx, {
      name: "Demo",
      description: "Answers without an account: an offline model that echoes what it is sent.",
      model: "demo/echo",
      tools: [{ type: "clock" }],
    });
    const trigger = await addTrigger(tx, ctx, {
      agentId: agent.id,
      body: { name: "Demo", prompt_prefix: "This came in by the demo trigger:" },
    });
    return { agentId: agent.id, agentToken: agent.token, triggerToken: trigger.token };
  });
}
