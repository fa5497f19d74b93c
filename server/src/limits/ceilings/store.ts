import type { CeilingScope } from "@beckon/contract";
import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { currentPeriodSql, reachedSql } from "../../reservations/index.ts";

/** What a ceiling applies to. */
export interface CeilingRef {
  readonly scope: CeilingScope;
  readonly scopeId: string;
}

/**
 * A ceiling and the state of its budget now. Sums are in micro-dollars, as text because their type
 * is bigint.
 */
export interface CeilingRow {
  readonly scope_kind: CeilingScope;
  readonly scope_id: string;
  readonly name: string | null;
  readonly limit_micros: string;
  readonly pauses_agent: boolean;
  readonly spent: string;
  readonly reserved: string;
  readonly reached: boolean;
  readonly starts: Date;
  readonly ends: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** What a credential can see. */
export interface Visibility {
  /**
   * If the credential is limited to agents, their ids. It then sees only these agents, their
   * triggers and the key `keyId`.
   */
  readonly agentIds?: readonly string[] | undefined;
  readonly keyId?: string | undefined;
}

/**
 * Returns the name of the workspace, agent, key or trigger; undefined if the workspace has none
 * with this id that the credential can see. Deleted ones count as not existing. Reads the tables
 * itself, because this module must not import `workspaces/`, `agents/` and `triggers/`, which are
 * in layers above.
 * @param visibility default: everything in the workspace.
 */
export async function findScopeName(
  tx: WorkspaceTransaction,
  workspaceId: string,
  { scope, scopeId }: CeilingRef,
  { agentIds, keyId = "" }: Visibility = {},
): Promise<string | undefined> {
  const seenIf = (condition: RawBuilder<unknown>) =>
    agentIds === undefined ? sql`true` : condition;
  const anyAgent = sql`any (${[...(agentIds ?? [])]}::text[])`;
  const living = sql`workspace_id = ${workspaceId} and id = ${scopeId} and deleted_at is null`;
  const from: Readonly<Record<CeilingScope, RawBuilder<unknown>>> = {
    workspace: sql`workspaces
      where id = ${workspaceId} and id = ${scopeId} and ${seenIf(sql`false`)}`,
    agent: sql`agents where ${living} and ${seenIf(sql`id = ${anyAgent}`)}`,
    trigger: sql`triggers where ${living} and ${seenIf(sql`agent_id = ${anyAgent}`)}`,
    key: sql`keys
      where workspace_id = ${workspaceId} and id = ${scopeId} and ${seenIf(sql`id = ${keyId}`)}`,
  };
  const { rows } = await sql<{ name: string }>`select name from ${from[scope]}`.execute(tx);
  return rows[0]?.name;
}

/**
 * Returns up to `limit` ceilings that the credential can see: that of the workspace, then the
 * others in the order of their scope and id. They begin after `above` if it is given.
 */
export async function readCeilings(
  tx: WorkspaceTransaction,
  workspaceId: string,
  {
    scope,
    scopeId,
    above,
    limit,
    agentIds,
    keyId,
  }: Visibility & {
    readonly scope?: CeilingScope | undefined;
    readonly scopeId?: string;
    readonly above?: CeilingRef | undefined;
    readonly limit: number;
  },
): Promise<CeilingRow[]> {
  const conditions = [
    sql`c.workspace_id = ${workspaceId}`,
    ...(scope === undefined ? [] : [sql`c.scope_kind = ${scope}`]),
    ...(scopeId === undefined ? [] : [sql`c.scope_id = ${scopeId}`]),
    ...(above === undefined
      ? []
      : [
          sql`(c.scope_kind <> 'workspace', c.scope_kind, c.scope_id)
            > (${above.scope !== "workspace"}, ${above.scope}, ${above.scopeId})`,
        ]),
    ...(agentIds === undefined
      ? []
      : [
          sql`case c.scope_kind
            when 'agent' then c.scope_id = any (${[...agentIds]}::text[])
            when 'trigger' then t.agent_id = any (${[...agentIds]}::text[])
            when 'key' then c.scope_id = ${keyId ?? ""}
            else false end`,
        ]),
  ];
  const { rows } = await sql<CeilingRow>`
    select c.scope_kind, c.scope_id, c.limit_micros, c.pauses_agent, c.created_at, c.updated_at,
      case c.scope_kind when 'workspace' then w.name when 'agent' then a.name
        when 'key' then k.name else t.name end as name,
      case when b.ends > now() then b.spent else 0 end as spent, coalesce(b.reserved, 0) as reserved,
      ${sql.raw(reachedSql)} as reached,
      ${sql.raw(currentPeriodSql("b", "p"))}
    from workspaces w
    cross join lateral period_of(now(), w.time_zone, 'day', 1) as p
    join ceilings c on c.workspace_id = w.id
    left join budgets b on b.workspace_id = c.workspace_id and b.scope_id = c.scope_id
      and b.scope_kind = c.scope_kind and b.metric = 'cost'
    left join agents a on c.scope_kind = 'agent' and a.workspace_id = c.workspace_id
      and a.id = c.scope_id and a.deleted_at is null
    left join keys k on c.scope_kind = 'key' and k.workspace_id = c.workspace_id
      and k.id = c.scope_id
    left join triggers t on c.scope_kind = 'trigger' and t.workspace_id = c.workspace_id
      and t.id = c.scope_id and t.deleted_at is null
    where w.id = ${workspaceId} and ${sql.join(conditions, sql` and `)}
    order by c.scope_kind <> 'workspace', c.scope_kind, c.scope_id limit ${limit}`.execute(tx);
  return rows;
}

/** Inserts or changes a ceiling. @returns the values before; undefined if it is new. */
export async function putCeiling(
  tx: WorkspaceTransaction,
  workspaceId: string,
  { scope, scopeId }: CeilingRef,
  values: { readonly limit_micros: number; readonly pauses_agent: boolean },
): Promise<{ limit_micros: number; pauses_agent: boolean } | undefined> {
  const key = { workspace_id: workspaceId, scope_kind: scope, scope_id: scopeId };
  const before = await tx
    .selectFrom("ceilings")
    .select(["limit_micros", "pauses_agent"])
    .where((where) => where.and(key))
    .forNoKeyUpdate()
    .executeTakeFirst();
  await tx
    .insertInto("ceilings")
    .values({ ...key, ...values, limit_micros: String(values.limit_micros) })
    .onConflict((conflict) =>
      conflict.columns(["workspace_id", "scope_kind", "scope_id"]).doUpdateSet({
        limit_micros: String(values.limit_micros),
        pauses_agent: values.pauses_agent,
        updated_at: sql<Date>`now()`,
      }),
    )
    .execute();
  return before && { ...before, limit_micros: Number(before.limit_micros) };
}

/** Deletes a ceiling. @returns its values; undefined if there was none. */
export async function deleteCeilingRow(
  tx: WorkspaceTransaction,
  workspaceId: string,
  { scope, scopeId }: CeilingRef,
): Promise<{ limit_micros: number; pauses_agent: boolean } | undefined> {
  const row = await tx
    .deleteFrom("ceilings")
    .where("workspace_id", "=", workspaceId)
    .where("scope_kind", "=", scope)
    .where("scope_id", "=", scopeId)
    .returning(["limit_micros", "pauses_agent"])
    .executeTakeFirst();
  return row && { ...row, limit_micros: Number(row.limit_micros) };
}
