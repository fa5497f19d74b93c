import type { AuditFilter } from "@beckon/contract";
import type { Selectable } from "kysely";
import type { Tables, WorkspaceTransaction } from "../database/index.ts";
import { idSlackMs, lowestIdAt } from "../ids.ts";

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
  // No index has the time, so the ids limit the scan.
  const { since, until } = filter;
  if (since !== undefined)
    query = query.where("time", ">=", new Date(since)).where("id", ">=", idAt(since, -idSlackMs));
  if (until !== undefined)
    query = query.where("time", "<", new Date(until)).where("id", "<", idAt(until, idSlackMs));
  if (page.below !== undefined) query = query.where("id", "<", page.below);
  return query.execute();
}

function idAt(time: string, slackMs: number): string {
  return lowestIdAt("aud", new Date(Date.parse(time) + slackMs));
}
