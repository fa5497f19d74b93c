import { type ExportedAgent, exportQuery } from "@beckon/contract";
import { type AgentRow, listOldestAgentRows, requireAgent, toDocument } from "../agents/index.ts";
import { agentLimit, type Context, permit, scopesBeyond } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { parseQuery } from "../base/parse.ts";
import { type BatchedValues, readInBatches } from "../base/read-in-batches.ts";
import { listTriggersOfAgents } from "../triggers/index.ts";

/** Maximum number of agents that an export reads at a time and holds in memory. */
const batchSize = 5;

/**
 * Maximum length of the agents of a batch, as JSON in UTF-16 units. An agent that is longer is a
 * batch of its own, so that each agent that fits into the memory budget can be exported.
 */
const maxBatchLength = 1_048_576;

/** Exported agents and the requested format of the file. */
export interface ExportedDocument {
  readonly format: "json" | "yaml";
  readonly agents: BatchedValues<ExportedAgent>;
}

/**
 * Exports one agent with its settings. Its triggers are included if the actor has `triggers:read`.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function exportAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; query: unknown };
}): Promise<ExportedDocument> {
  permit(ctx, "agents:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgent(tx, ctx, input.agentId);
    const { format } = parseQuery(exportQuery, input.query);
    const values = await withTriggers(tx, ctx, [row]);
    return { format, agents: await readInBatches(async () => ({ values, last: undefined })) };
  });
}

/**
 * Exports all agents that the actor can see and that are not deleted, oldest first. Each batch is
 * read in its own transaction, so that a slow client does not keep a transaction open. Changes
 * during the export may or may not be included.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function exportAgents({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<ExportedDocument> {
  permit(ctx, "agents:read");
  const { format } = parseQuery(exportQuery, input.query);
  let limit = batchSize;
  const agents = await readInBatches((above = "") =>
    inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
      const rows = await listOldestAgentRows(tx, ctx.workspaceId, {
        agentIds: agentLimit(ctx),
        above,
        limit,
      });
      const values = fitting(await withTriggers(tx, ctx, rows));
      const isCut = values.length < rows.length;
      const isLast = rows.length < limit && !isCut;
      // After a batch that did not fit, fewer agents are read: those that do not fit would be read
      // again for each batch.
      limit = isCut ? values.length : Math.min(batchSize, limit + 1);
      return { values, last: isLast ? undefined : rows[values.length - 1]?.id };
    }),
  );
  return { format, agents };
}

/** Returns the first agents, as many as fit into a batch, at least one. */
function fitting(agents: readonly ExportedAgent[]): readonly ExportedAgent[] {
  let length = 0;
  const end = agents.findIndex((agent) => {
    length += JSON.stringify(agent).length;
    return length > maxBatchLength;
  });
  return end < 0 ? agents : agents.slice(0, Math.max(1, end));
}

async function withTriggers(
  tx: WorkspaceTransaction,
  ctx: Context,
  rows: readonly AgentRow[],
): Promise<ExportedAgent[]> {
  if (scopesBeyond(ctx, ["triggers:read"]).length > 0) return rows.map(toDocument);
  const triggers = await listTriggersOfAgents(
    tx,
    ctx.workspaceId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    ...toDocument(row),
    triggers: triggers
      .filter(({ agent_id }) => agent_id === row.id)
      .map(({ name, prompt_prefix, enabled, allows_callback, receiving }) => ({
        name,
        prompt_prefix,
        enabled,
        allows_callback,
        receiving,
      })),
  }));
}
