import type { AgentConfig, UpdateAgentBody } from "@beckon/contract";
import type { changes } from "../base/audit/index.ts";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { type FoundProviders, modelResolver } from "../providers/index.ts";
import { mergeConfig } from "./merge-config.ts";
import { type AgentRow, listSecrets, versionChanges } from "./records/index.ts";
import { requireCallableTools, type ToolAddressServices } from "./require-callable-tools.ts";
import { planSecrets, requireStoredSecrets } from "./secrets/index.ts";

/** A configuration of an agent that is not stored as a version. */
export interface AgentDraft {
  readonly config: AgentConfig;
  /**
   * Id of the workspace's provider that serves `config.model`; null for a built-in model and for a
   * provider of the operator.
   */
  readonly providerId: string | null;
  /** The differences to the agent's current version, for an audit entry. */
  readonly changes: ReturnType<typeof changes>;
}

/**
 * Returns the configuration that the agent would have after `change`, without storing it. Tools can
 * use the agent's stored secrets, but cannot send them to new origins. New secrets are rejected:
 * they would not belong to the stored agent, so separate code would have to encrypt, re-encrypt and
 * delete them. The limits of concurrent and queued runs are not changed, because they apply to all
 * runs of the agent together.
 * @param foundProviders the result of `findOperatorProviders` for the changes, called before the
 *   transaction
 * @throws ApiError `bad_request`
 */
export async function planDraft(
  tx: WorkspaceTransaction,
  ctx: Context & ToolAddressServices,
  agent: AgentRow,
  change: UpdateAgentBody,
  foundProviders: FoundProviders,
): Promise<AgentDraft> {
  const before = agent.config;
  requireCallableTools(ctx, change.tools ?? [], before.tools);
  const tools =
    change.tools === undefined ? undefined : await planTools(tx, ctx, agent, change.tools);
  const merged = mergeConfig(before, { ...change, tools });
  const { max_concurrent_runs, max_queued_runs } = before.limits;
  const config = { ...merged, limits: { ...merged.limits, max_concurrent_runs, max_queued_runs } };
  const resolveModel = await modelResolver(tx, ctx, [config.model], foundProviders);
  const providerId = await resolveModel(config.model, before.model);
  return { config, providerId, changes: versionChanges(agent, { config, providerId }) };
}

async function planTools(
  tx: WorkspaceTransaction,
  { cipher, workspaceId }: Context,
  { id: agentId, config }: AgentRow,
  given: NonNullable<UpdateAgentBody["tools"]>,
) {
  requireStoredSecrets(given);
  const owner = { workspaceId, agentId };
  const kept = await listSecrets(tx, owner);
  return planSecrets(cipher, owner, given, { tools: config.tools, kept }).tools;
}
