import type { AgentConfig, AgentFilter, View } from "@beckon/contract";
import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../../base/database/index.ts";
import type { PageRequest } from "../../base/page.ts";
import { restorableDays } from "../../base/retention/index.ts";
import { pausesAgentSql } from "../../reservations/index.ts";
import { storedConfig } from "./version-store.ts";

/** An agent's row with its current version. */
export type AgentRow = Selectable<Tables["agents"]> & {
  config: AgentConfig;
  /**
   * Id of the workspace's provider that serves the current version's model; null for a built-in
   * model and for a provider of the operator.
   */
  provider_id: string | null;
  /** Last four characters of each secret of the agent's tools, by the secret's id. */
  secrets: Readonly<Record<string, string>>;
  /** Until when the deleted agent can be restored; null if the agent is not deleted. */
  restorable_until: Date | null;
  /** Whether the agent is deleted and `restorable_until` is in the future. */
  restorable: boolean;
  /** Whether the agent is paused because one of its ceilings (limits in money) is reached. */
  paused_by_limit: boolean;
};

/**
 * The interval is given in hours: PostgreSQL adds days in the time zone of the database session,
 * where a day can have 23 or 25 hours.
 */
const restorableUntil = sql<Date | null>`agents.deleted_at + ${sql.lit(`${restorableDays * 24} hours`)}::interval`;
const isRestorable = sql<boolean>`coalesce(${restorableUntil} > now(), false)`;

/** SQL condition that a ceiling (a limit in money) pauses the agent now. */
const isPausedByLimit = sql<boolean>`exists (select from budgets b
  where b.workspace_id = agents.workspace_id and b.scope_id = agents.id
    and ${sql.raw(pausesAgentSql)})`;

/** The configuration without the fields that can be large. */
const summaryConfig = sql<AgentConfig>`${storedConfig}
  || '{"instructions": "", "tools": [], "metadata": {}}'::jsonb`;

function agents(tx: WorkspaceTransaction, workspaceId: string, config = storedConfig) {
  return tx
    .selectFrom("agents")
    .innerJoin("agent_versions", (join) =>
      join
        .onRef("agent_versions.agent_id", "=", "agents.id")
        .onRef("agent_versions.workspace_id", "=", "agents.workspace_id")
        .onRef("agent_versions.version", "=", "agents.version"),
    )
    .selectAll("agents")
    .select([
      config.as("config"),
      "agent_versions.provider_id",
      restorableUntil.as("restorable_until"),
      isRestorable.as("restorable"),
      isPausedByLimit.as("paused_by_limit"),
    ])
    .select(
      sql<
        Record<string, string>
      >`(select coalesce(jsonb_object_agg(s.id, s.last4), '{}') from agent_secrets s
        where s.agent_id = agents.id and s.workspace_id = agents.workspace_id)`.as("secrets"),
    )
    .where("agents.workspace_id", "=", workspaceId);
}

export function findAgent(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
): Promise<AgentRow | undefined> {
  return agents(tx, workspaceId)
    .where("agents.id", "=", id)
    .where("agents.deleted_at", "is", null)
    .executeTakeFirst();
}

/**
 * Locks the agent's row and returns the agent, even if it is deleted; undefined if it does not
 * exist. Uses `FOR NO KEY UPDATE`, because `FOR UPDATE` would also block inserts into tables with a
 * foreign key to `agents`. Starting a run only reads the row, so this lock does not delay it. The
 * agent is read by a second statement, because the first one may have waited for the lock and would
 * show joined tables as they were before the wait.
 */
export async function lockAgent(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
): Promise<AgentRow | undefined> {
  await tx
    .selectFrom("agents")
    .select("id")
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .forNoKeyUpdate()
    .execute();
  return agents(tx, workspaceId).where("agents.id", "=", id).executeTakeFirst();
}

/**
 * Maximum size of all configurations on one page, as JSON in bytes. The first agent of a page is
 * always included, even if it is larger. With the smallest memory budget, 96 MiB, `shareMemory`
 * gives the responses of a workspace 22.5 MiB, and `countResponse` counts 5 bytes for each
 * character. So a page of more than 4.7 million characters could never be sent. This limit is
 * lower, because a page has other fields besides the configurations.
 */
const maxPageBytes = 3 * 1024 * 1024;

/**
 * Returns up to `page.limit` agents, newest first, and whether there are more. A page of large
 * agents has fewer, see `maxPageBytes`.
 * @param filter.agentIds If given, only agents with these ids are returned.
 * @param filter.view With `summary`, instructions, tools and metadata are empty.
 */
export async function listAgentRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  filter: AgentFilter & {
    readonly agentIds: readonly string[] | undefined;
    readonly view: View;
  },
  page: PageRequest,
): Promise<{ readonly rows: AgentRow[]; readonly hasMore: boolean }> {
  const config = filter.view === "summary" ? summaryConfig : storedConfig;
  let query = agents(tx, workspaceId, config)
    .where(filter.deleted === "true" ? isRestorable : sql<boolean>`agents.deleted_at is null`)
    .orderBy("agents.id", "desc")
    .limit(page.limit + 1);
  if (filter.agentIds !== undefined) query = query.where("agents.id", "in", filter.agentIds);
  if (filter.paused !== undefined)
    query = query.where(
      sql<boolean>`(agents.paused_at is not null or ${isPausedByLimit})`,
      "=",
      filter.paused === "true",
    );
  if (filter.model !== undefined)
    query = query.where(sql`agent_versions.config ->> 'model'`, "=", filter.model);
  if (filter.search !== undefined) {
    const pattern = `%${filter.search.replaceAll(/[\\%_]/g, "\\$&")}%`;
    query = query.where(
      sql<boolean>`(agents.name ilike ${pattern} or agent_versions.config ->> 'description' ilike ${pattern})`,
    );
  }
  if (page.below !== undefined) query = query.where("agents.id", "<", page.below);
  const sized = tx
    .selectFrom(query.as("listed"))
    .selectAll()
    .select([
      sql<number>`count(*) over ()::int`.as("count"),
      sql<string>`row_number() over (order by listed.id desc)`.as("position"),
      sql<string>`sum(octet_length(listed.config::text)) over (order by listed.id desc)`.as(
        "bytes_so_far",
      ),
    ]);
  const fitting = await tx
    .selectFrom(sized.as("sized"))
    .selectAll()
    .where(sql<boolean>`(position = 1 or bytes_so_far <= ${maxPageBytes})`)
    .orderBy("id", "desc")
    .execute();
  const rows = fitting.slice(0, page.limit);
  return { rows, hasMore: (fitting[0]?.count ?? 0) > rows.length };
}

/**
 * Returns at most `limit` agents that are not deleted, by ascending id, with ids above `above` and,
 * if `agentIds` is given, in `agentIds`.
 */
export function listOldestAgentRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  {
    agentIds,
    above,
    limit,
  }: { agentIds: readonly string[] | undefined; above: string; limit: number },
): Promise<AgentRow[]> {
  const query = agents(tx, workspaceId)
    .where("agents.deleted_at", "is", null)
    .where("agents.id", ">", above)
    .orderBy("agents.id")
    .limit(limit);
  return (agentIds === undefined ? query : query.where("agents.id", "in", agentIds)).execute();
}

/** Columns of `agents` that duplicate fields of the current version. */
const duplicatedColumns = (config: AgentConfig) => ({
  name: config.name,
  max_concurrent_runs: config.limits.max_concurrent_runs,
  max_queued_runs: config.limits.max_queued_runs,
});

/**
 * Inserts agents and their first versions, with one statement per table.
 * @param rows At most 8,191: a statement has at most 65,535 parameters.
 */
export async function insertAgents(
  tx: WorkspaceTransaction,
  rows: readonly FirstVersionRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insertInto("agents")
    .values(
      rows.map((row) => ({
        id: row.agentId,
        workspace_id: row.workspaceId,
        version: row.version,
        ...duplicatedColumns(row.config),
        paused_at: row.pause === undefined ? null : sql<Date>`now()`,
        pause_reason: row.pause?.reason ?? null,
      })),
    )
    .execute();
  await insertVersions(tx, rows);
}

export interface VersionRow {
  readonly agentId: string;
  readonly workspaceId: string;
  readonly version: number;
  readonly config: AgentConfig;
  readonly providerId: string | null;
  readonly createdBy: string;
}

export interface FirstVersionRow extends VersionRow {
  /** Undefined if the agent is not paused. */
  readonly pause: { readonly reason: string | null } | undefined;
}

/** Inserts `row` and makes it the agent's current version. */
export async function insertNextVersion(tx: WorkspaceTransaction, row: VersionRow): Promise<void> {
  await insertVersions(tx, [row]);
  await updateAgentRow(
    tx,
    { id: row.agentId, workspace_id: row.workspaceId },
    { version: row.version, ...duplicatedColumns(row.config) },
  );
}

async function insertVersions(
  tx: WorkspaceTransaction,
  rows: readonly VersionRow[],
): Promise<void> {
  await tx
    .insertInto("agent_versions")
    .values(
      rows.map((row) => ({
        agent_id: row.agentId,
        workspace_id: row.workspaceId,
        version: row.version,
        config: JSON.stringify(row.config),
        provider_id: row.providerId,
        created_by: row.createdBy,
      })),
    )
    .execute();
}

interface AgentChange {
  readonly version?: number;
  readonly name?: string;
  readonly max_concurrent_runs?: number | null;
  readonly max_queued_runs?: number;
  /**
   * `now` sets the current time of the database; null ends the pause; undefined changes nothing.
   */
  readonly paused_at?: "now" | null;
  readonly pause_reason?: string | null;
  readonly deleted_at?: "now" | null;
}

/** Updates columns of an agent's row, and its `updated_at`. */
export async function updateAgentRow(
  tx: WorkspaceTransaction,
  key: { id: string; workspace_id: string },
  change: AgentChange,
): Promise<void> {
  const { paused_at, deleted_at, ...rest } = change;
  const time = (value: "now" | null) => (value === null ? null : sql<Date>`now()`);
  await tx
    .updateTable("agents")
    .set({
      ...rest,
      ...(paused_at === undefined ? {} : { paused_at: time(paused_at) }),
      ...(deleted_at === undefined ? {} : { deleted_at: time(deleted_at) }),
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", key.id)
    .where("workspace_id", "=", key.workspace_id)
    .execute();
}
