import type { AgentVersionEntry } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import { listVersionRows, requireAgent, toVersionEntry } from "../records/index.ts";

/** The format of the ids in cursors: a version's number. At most 9 digits, to fit an `int`. */
const idForm = /^[1-9]\d{0,8}$/;

/**
 * Returns one page of the agent's versions with their author and time, newest first.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function listVersions({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; query: unknown };
}): Promise<Page<AgentVersionEntry>> {
  permit(ctx, "agents:read");
  const { workspaceId } = ctx;
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const { id: agentId } = await requireAgent(tx, ctx, input.agentId);
    const page = readPage(input.query, { list: "versions", agent: agentId }, idForm);
    const rows = await listVersionRows(tx, { workspaceId, agentId }, page);
    const { data, next } = page.page(rows.map((row) => ({ ...row, id: String(row.version) })));
    return { data: data.map(toVersionEntry), next };
  });
}
