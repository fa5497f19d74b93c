import type { AgentConfig, UpdateAgentBody } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { type FoundProviders, modelResolver } from "../providers/index.ts";
import { mergeConfig } from "./merge-config.ts";
import { type AgentRow, listSecrets, type SecretChange, versionChanges } from "./records/index.ts";
import { requireCallableTools, type ToolAddressServices } from "./require-callable-tools.ts";
import { planSecrets } from "./secrets/index.ts";

/** What a change makes of an agent. Nothing of it is stored yet. */
export interface PlannedChange {
  readonly config: AgentConfig;
  /**
   * Id of the workspace's provider that serves `config.model`; null for a built-in model and for a
   * provider of the operator.
   */
  readonly providerId: string | null;
  /** The secrets to write and to delete; undefined if the change has no tools. */
  readonly secrets: SecretChange | undefined;
  /** The differences to the agent's current version, for an audit entry. */
  readonly differences: ReturnType<typeof versionChanges>;
}

/**
 * Returns what the agent would be after `change`.
 * @param foundProviders the result of `findOperatorProviders` for the change, called before the
 *   transaction
 * @throws ApiError `bad_request`
 */
export async function planChange(
  tx: WorkspaceTransaction,
  ctx: Context & ToolAddressServices,
  agent: AgentRow,
  change: UpdateAgentBody,
  foundProviders: FoundProviders,
): Promise<PlannedChange> {
  const before = agent.config;
  requireCallableTools(ctx, change.tools ?? [], before.tools);
  const owner = { workspaceId: ctx.workspaceId, agentId: agent.id };
  const planned =
    change.tools === undefined
      ? undefined
      : planSecrets(ctx.cipher, owner, change.tools, {
          tools: before.tools,
          kept: await listSecrets(tx, owner),
        });
  const config = mergeConfig(before, { ...change, tools: planned?.tools });
  const resolveModel = await modelResolver(tx, ctx, [config.model], foundProviders);
  const providerId = await resolveModel(config.model, before.model);
  const differences = versionChanges(agent, { config, providerId });
  return { config, providerId, secrets: planned, differences };
}
