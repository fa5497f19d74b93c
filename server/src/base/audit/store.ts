import type { AuditFilter } from "@beckon/contract";
import type { Selectable } from "kysely";
import type { Tables, WorkspaceTransaction } from "../database/index.ts";

export type AuditRow = Selectable<Tables["audit"]>;

/**
 * Returns at most `limit` entries with an id below `below`, newest first. If `below` is undefined,
 * begins with the newest entry.
 */
export function listAuditRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  filter: AuditFilter,
  page: { below: string | undefined; limit: number },
): Promise<AuditRow[]> {
  let query = tx
    .selectFrom("audit")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("id", "desc")
    .limit(page.limit);
  for (const name of ["actor", "action", "target"] as const) {
    const wanted = filter[name];
    if (wanted !== undefined) query = query.where(name, "=", wanted);
  }
  if (filter.since !== undefined) query = query.where("time", ">=", new Date(filter.since));
  if (filter.until !== undefined) query = query.where("time", "<", new Date(filter.until));
  if (page.below !== undefined) query = query.where("id", "<", page.below);
  return query.execute();
}
