import type { Agent, AgentConfig } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, principalOf } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { issueToken } from "../tokens/index.ts";
import {
  type EncryptedSecret,
  insertAgent,
  requireAgent,
  toAgent,
  updateAgentRow,
  writeSecrets,
} from "./records/index.ts";

interface NewAgent {
  readonly agentId: string;
  readonly config: AgentConfig;
  /**
   * Id of the workspace's provider that serves `config.model`; null for a built-in model and for a
   * provider of the operator. The provider must not be deleted before this transaction commits. So
   * the caller must have locked the provider (`resolveModel` does), or the row of another agent
   * that uses it: a provider that an agent uses cannot be deleted.
   */
  readonly providerId: string | null;
  readonly secrets: readonly EncryptedSecret[];
  /** Absent if the agent is not paused. */
  readonly pause?: { readonly reason: string | null } | undefined;
  /** The action in the audit log. */
  readonly action: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Inserts a new agent: its row, first version, secrets, token and audit entry. The caller must have
 * checked permissions and validated the configuration.
 */
export async function writeAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  given: NewAgent,
): Promise<Agent & { token: string }> {
  const { agentId, config, providerId } = given;
  const { workspaceId } = ctx;
  await insertAgent(tx, {
    agentId,
    workspaceId,
    version: 1,
    config,
    providerId,
    createdBy: principalOf(ctx.actor),
  });
  await writeSecrets(tx, { workspaceId, agentId }, { write: given.secrets, remove: [] });
  const token = await issueToken(tx, ctx, { agentId }, { graceSeconds: 0 });
  if (given.pause !== undefined) {
    await updateAgentRow(
      tx,
      { id: agentId, workspace_id: workspaceId },
      { paused_at: "now", pause_reason: given.pause.reason },
    );
  }
  await record(tx, ctx, {
    action: given.action,
    target: agentId,
    data: { name: config.name, model: config.model, ...given.data },
  });
  return { ...toAgent(await requireAgent(tx, ctx, agentId)), token };
}
