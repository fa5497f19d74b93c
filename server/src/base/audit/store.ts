import type { AuditFilter } from "@beckon/contract";
import { type Insertable, type Selectable, sql } from "kysely";
import {
  type Searched,
  searchNewest,
  type Tables,
  type WorkspaceTransaction,
} from "../database/index.ts";
import { idSlackMs, lowestIdAt } from "../ids.ts";

export type AuditRow = Selectable<Tables["audit"]>;
/** `data` is JSON. */
export type InsertedAuditRow = Omit<Insertable<Tables["audit"]>, "time">;

/**
 * Returns at most `limit` entries with an id below `below`, newest first. If `below` is undefined,
 * begins with the newest entry. With several of the filters actor, action and target it searches a
 * limited number of entries, and can find fewer although more match.
 */
export async function listAuditRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  filter: AuditFilter,
  { below, limit }: { below: string | undefined; limit: number },
): Promise<Searched<AuditRow>> {
  const { since, until } = filter;
  // No index has the time, so the ids limit the scan.
  const scope = [
    sql<boolean>`workspace_id = ${workspaceId}`,
    ...(since === undefined
      ? []
      : [sql<boolean>`time >= ${new Date(since)} and id >= ${idAt(since, -idSlackMs)}`]),
    ...(until === undefined
      ? []
      : [sql<boolean>`time < ${new Date(until)} and id < ${idAt(until, idSlackMs)}`]),
    ...(below === undefined ? [] : [sql<boolean>`id < ${below}`]),
  ];
  const filters = (["target", "actor", "action"] as const).flatMap((name) => {
    const wanted = filter[name];
    return wanted === undefined ? [] : [[name, wanted] as const];
  });
  const query = tx.selectFrom("audit").selectAll().orderBy("id", "desc");
  if (filters.length > 1) {
    const { rows: ids, searchedTo } = await searchNewest(tx, "audit", { scope, filters, limit });
    if (ids.length === 0) return { rows: [], searchedTo };
    const found = query.where("workspace_id", "=", workspaceId).where("id", "in", ids);
    return { rows: await found.execute(), searchedTo };
  }
  const rows = await query
    .where((eb) => eb.and([...scope, ...filters.map(([name, wanted]) => eb(name, "=", wanted))]))
    .limit(limit)
    .execute();
  return { rows, searchedTo: undefined };
}

/** Inserts entries with one statement. */
export async function insertAuditRows(
  tx: WorkspaceTransaction,
  rows: readonly InsertedAuditRow[],
): Promise<void> {
  // Each column is an array, because a statement has at most 65,535 parameters.
  const column = (name: keyof InsertedAuditRow) => rows.map((row) => row[name]);
  await sql`insert into audit (id, workspace_id, actor, address, action, target, data)
    select id, workspace_id, actor, address, action, target, data::jsonb
    from unnest(${column("id")}::text[], ${column("workspace_id")}::text[],
      ${column("actor")}::text[], ${column("address")}::text[], ${column("action")}::text[],
      ${column("target")}::text[], ${column("data")}::text[])
      as each (id, workspace_id, actor, address, action, target, data)`.execute(tx);
}

function idAt(time: string, slackMs: number): string {
  return lowestIdAt("aud", new Date(Date.parse(time) + slackMs));
}
