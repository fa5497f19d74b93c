import type { UpdateAgentBody } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import type { FoundProviders } from "../providers/index.ts";
import { type PlannedChange, planChange } from "./plan-change.ts";
import type { AgentRow } from "./records/index.ts";
import type { ToolAddressServices } from "./require-callable-tools.ts";
import { requireStoredSecrets } from "./secrets/index.ts";

/** A configuration of an agent that is not stored as a version. */
export interface AgentDraft extends Pick<PlannedChange, "config" | "providerId"> {
  /** The differences to the agent's current version, for an audit entry. */
  readonly changes: PlannedChange["differences"];
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
  requireStoredSecrets(change.tools ?? []);
  const { max_concurrent_runs, max_queued_runs } = agent.config.limits;
  const limits = { ...change.limits, max_concurrent_runs, max_queued_runs };
  const planned = await planChange(tx, ctx, agent, { ...change, limits }, foundProviders);
  return { config: planned.config, providerId: planned.providerId, changes: planned.differences };
}
