import type { Agent, AgentConfig } from "@beckon/contract";
import { type NewAuditEntry, record } from "../base/audit/index.ts";
import { type Context, principalOf } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { insertTokens, type NewToken, newToken } from "../tokens/index.ts";
import {
  type EncryptedSecret,
  insertAgents,
  requireAgent,
  toAgent,
  upsertSecrets,
} from "./records/index.ts";

interface AgentToInsert {
  readonly agentId: string;
  readonly config: AgentConfig;
  readonly secrets: readonly EncryptedSecret[];
  /** Absent if the agent is not paused. */
  readonly pause?: { readonly reason: string | null } | undefined;
}

interface NewAgent extends AgentToInsert {
  /** The action in the audit log. */
  readonly action: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A new agent that is not inserted yet. */
export interface PreparedAgent extends AgentToInsert {
  readonly token: NewToken;
  readonly entry: NewAuditEntry;
}

/** A new agent whose provider is known, so that it can be inserted. */
export interface ResolvedAgent extends PreparedAgent {
  /**
   * Id of the workspace's provider that serves `config.model`; null for a built-in model and for a
   * provider of the operator. The provider must not be deleted before this transaction commits. So
   * the caller must have locked the provider (`resolveModel` does), or the row of another agent
   * that uses it: a provider that an agent uses cannot be deleted.
   */
  readonly providerId: string | null;
}

/** Generates the token and the audit entry of a new agent, without the database. */
export function prepareAgent(
  ctx: Pick<Context, "workspaceId" | "cipher">,
  { action, data, ...agent }: NewAgent,
): PreparedAgent {
  const { agentId, config } = agent;
  return {
    ...agent,
    token: newToken(ctx, { agentId }),
    entry: { action, target: agentId, data: { name: config.name, model: config.model, ...data } },
  };
}

/**
 * Inserts new agents: their rows, first versions, secrets and tokens, with one statement per table
 * and one per 1,000 secrets. The caller must have checked permissions and validated the
 * configurations, and must write the audit entries.
 */
export async function writeAgents(
  tx: WorkspaceTransaction,
  ctx: Context,
  agents: readonly ResolvedAgent[],
): Promise<void> {
  const { workspaceId } = ctx;
  const createdBy = principalOf(ctx.actor);
  await insertAgents(
    tx,
    agents.map(({ agentId, config, providerId, pause }) => ({
      agentId,
      workspaceId,
      version: 1,
      config,
      providerId,
      createdBy,
      pause,
    })),
  );
  await upsertSecrets(
    tx,
    agents.flatMap(({ agentId, secrets }) =>
      secrets.map((secret) => ({ ...secret, workspaceId, agentId })),
    ),
  );
  await insertTokens(
    tx,
    agents.map(({ token }) => token.row),
  );
}

/**
 * Inserts a new agent, as `writeAgents` does, and its audit entry. The caller must have checked
 * permissions and validated the configuration.
 */
export async function writeAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  { providerId, ...given }: NewAgent & Pick<ResolvedAgent, "providerId">,
): Promise<Agent & { token: string }> {
  const agent = prepareAgent(ctx, given);
  await writeAgents(tx, ctx, [{ ...agent, providerId }]);
  await record(tx, ctx, agent.entry);
  return { ...toAgent(await requireAgent(tx, ctx, agent.agentId)), token: agent.token.text };
}
