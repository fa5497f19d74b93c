import { type ExportedAgent, exportQuery } from "@beckon/contract";
import { type AgentRow, listOldestAgentRows, requireAgent, toDocument } from "../agents/index.ts";
import { agentLimit, type Context, permit, scopesBeyond } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { parseQuery } from "../base/parse.ts";
import { listTriggersOfAgents } from "../triggers/index.ts";

/** Agents read at a time: what an export holds in memory, however many there are. */
const batch = 20;

/** Exported agents, as a file of the form that was asked for. */
export interface ExportedDocument {
  readonly format: "json" | "yaml";
  readonly agents: AsyncIterable<ExportedAgent>;
}

/** One agent with all its settings and its triggers; the latter only for who may read triggers. */
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
    return { format, agents: asIterable(await withTriggers(tx, ctx, [row])) };
  });
}

/**
 * All living agents that the caller may see, oldest first. Each batch is a transaction of its own, so that a slow reader holds none open;
 * what is changed meanwhile may be in it or not. The first is read before this resolves: what cannot be exported is refused, not broken
 * off.
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
  const read = (above: string) =>
    inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
      const rows = await listOldestAgentRows(tx, ctx.workspaceId, {
        agentIds: agentLimit(ctx),
        above,
        limit: batch,
      });
      return {
        agents: await withTriggers(tx, ctx, rows),
        last: rows.length < batch ? undefined : rows.at(-1)?.id,
      };
    });
  return { format, agents: batches(await read(""), read) };
}

interface Batch {
  readonly agents: readonly ExportedAgent[];
  /** Absent: there are no more. */
  readonly last: string | undefined;
}

async function* batches(
  first: Batch,
  read: (above: string) => Promise<Batch>,
): AsyncGenerator<ExportedAgent> {
  let current = first;
  for (;;) {
    yield* current.agents;
    if (current.last === undefined) return;
    current = await read(current.last);
  }
}

async function* asIterable<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
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
      .map(({ name, prompt_prefix, enabled }) => ({ name, prompt_prefix, enabled })),
  }));
}
