import { addAgent } from "./agents/index.ts";
import { record } from "./base/audit/index.ts";
import type { Context } from "./base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "./base/database/index.ts";
import { attemptAsync } from "./base/errors.ts";
import { findDemoRow } from "./demo-store.ts";
import { ensureBootstrapKey } from "./keys/index.ts";
import { revealToken } from "./tokens/index.ts";
import { addTrigger } from "./triggers/index.ts";
import { defaultWorkspaceId, ensureDefaultWorkspace } from "./workspaces/index.ts";

/** The demo agent with its secrets in plain text. */
export interface DemoAgent {
  readonly agentId: string;
  /** null if the token was revoked or cannot be decrypted. */
  readonly agentToken: string | null;
  /**
   * null if the trigger was deleted or disabled, or if its token was revoked or cannot be
   * decrypted.
   */
  readonly triggerToken: string | null;
  /** false if the agent is paused or uses another model: then no commands are printed for it. */
  readonly isOffered: boolean;
}

const demoModel = "demo/echo";

/**
 * Sets the bootstrap key to `bootstrapKey`, or deletes it if that is undefined, and records this if
 * it changes something. At the first startup, also creates the workspace `default` with the demo
 * agent. All this is one transaction, so that a process that is killed leaves either all of it or
 * nothing. The caller must hold the migration lock.
 * @returns The demo agent if it was created now, else undefined.
 */
export function prepareDefaultWorkspace(
  services: Pick<Context, "database" | "cipher">,
  options: { bootstrapKey: string | undefined },
): Promise<DemoAgent | undefined> {
  const ctx = systemContext(services);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const isFirst = await ensureDefaultWorkspace(tx);
    await ensureBootstrapKey(tx, ctx, { text: options.bootstrapKey, isNew: isFirst });
    if (!isFirst) return undefined;
    const agent = await addAgent(tx, ctx, {
      name: "Demo",
      description: "Answers without an account: an offline model that echoes what it is sent.",
      model: demoModel,
      tools: [{ type: "clock" }],
    });
    const trigger = await addTrigger(tx, ctx, {
      agentId: agent.id,
      body: { name: "Demo", prompt_prefix: "This came in by the demo trigger:" },
    });
    return {
      agentId: agent.id,
      agentToken: agent.token,
      triggerToken: trigger.token,
      isOffered: true,
    };
  });
}

/**
 * Returns the demo agent with its current secrets. Returns undefined if the agent was deleted, or
 * if it has no secret that can be revealed. Writes an audit entry for each secret that it returns.
 */
export function revealDemo(
  services: Pick<Context, "database" | "cipher">,
): Promise<DemoAgent | undefined> {
  const ctx = systemContext(services);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const { workspaceId } = ctx;
    const found = await findDemoRow(tx, { workspaceId, model: demoModel });
    if (found === undefined) return undefined;
    const { agent_id: agentId, trigger_id: triggerId, is_offered: isOffered } = found;
    const agentToken = await reveal(tx, ctx, { agentId });
    const triggerToken = triggerId === null ? null : await reveal(tx, ctx, { agentId, triggerId });
    const isCallable = agentToken !== null || triggerToken !== null;
    return isCallable ? { agentId, agentToken, triggerToken, isOffered } : undefined;
  });
}

async function reveal(
  tx: WorkspaceTransaction,
  ctx: Context,
  subject: { agentId: string; triggerId?: string },
): Promise<string | null> {
  const revealed = await attemptAsync(() => revealToken(tx, ctx, subject));
  if (!revealed.ok) return null;
  const { agentId, triggerId } = subject;
  const action = triggerId === undefined ? "agent.token.reveal" : "trigger.reveal";
  await record(tx, ctx, { action, target: triggerId ?? agentId });
  return revealed.value;
}

function systemContext(services: Pick<Context, "database" | "cipher">): Context {
  return { ...services, actor: { kind: "system" }, workspaceId: defaultWorkspaceId };
}
