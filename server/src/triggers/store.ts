import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";

export type TriggerRow = Selectable<Tables["triggers"]>;

interface TriggerKey {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly triggerId: string;
}

const notDeleted = (tx: WorkspaceTransaction, key: Omit<TriggerKey, "triggerId">) =>
  tx
    .selectFrom("triggers")
    .selectAll()
    .where("workspace_id", "=", key.workspaceId)
    .where("agent_id", "=", key.agentId)
    .where("deleted_at", "is", null);

export function findTrigger(
  tx: WorkspaceTransaction,
  key: TriggerKey,
): Promise<TriggerRow | undefined> {
  return notDeleted(tx, key).where("id", "=", key.triggerId).executeTakeFirst();
}

/**
 * Returns the trigger and locks its row against other changes; undefined if there is none. `FOR NO
 * KEY UPDATE` does not block the start of runs: their foreign key only locks the trigger's row `FOR
 * KEY SHARE`.
 */
export function findTriggerForChange(
  tx: WorkspaceTransaction,
  key: TriggerKey,
): Promise<TriggerRow | undefined> {
  return notDeleted(tx, key).where("id", "=", key.triggerId).forNoKeyUpdate().executeTakeFirst();
}

/**
 * A page ends with the trigger at which its prompt prefixes and settings reach this many bytes.
 * With the smallest memory budget, Beckon could never send a page of more than 4.7 million
 * characters: `maxPageBytes` in agents/records/store.ts has the calculation.
 */
const maxPageBytes = 3 * 1024 * 1024;

/**
 * Returns up to `page.limit` triggers, newest first, and whether there are more. A page of large
 * triggers has fewer, see `maxPageBytes`.
 */
export async function listTriggerRows(
  tx: WorkspaceTransaction,
  key: Omit<TriggerKey, "triggerId">,
  page: PageRequest,
): Promise<{ readonly rows: TriggerRow[]; readonly hasMore: boolean }> {
  const query = notDeleted(tx, key)
    .orderBy("id", "desc")
    .limit(page.limit + 1);
  const listed = page.below === undefined ? query : query.where("id", "<", page.below);
  const sized = tx
    .selectFrom(listed.as("listed"))
    .selectAll()
    .select([
      sql<number>`count(*) over ()::int`.as("count"),
      sql<string>`coalesce(sum(
          octet_length(prompt_prefix) + coalesce(octet_length(receiving::text), 0))
        over (order by id desc rows between unbounded preceding and 1 preceding), 0)`.as(
        "bytes_before",
      ),
    ]);
  const fitting = await tx
    .selectFrom(sized.as("sized"))
    .selectAll()
    .where("bytes_before", "<", String(maxPageBytes))
    .orderBy("id", "desc")
    .execute();
  const rows = fitting.slice(0, page.limit);
  return { rows, hasMore: (fitting[0]?.count ?? 0) > rows.length };
}

/**
 * Returns about how many characters the triggers of each of these agents have in an export, in the
 * order of the ids. Deleted triggers do not count.
 */
export async function countCharactersOfTriggers(
  tx: WorkspaceTransaction,
  workspaceId: string,
  agentIds: readonly string[],
): Promise<number[]> {
  if (agentIds.length === 0) return [];
  const rows = await tx
    .selectFrom("triggers")
    .select([
      "agent_id",
      // 80 is the length of a trigger's field names and of the values that have a fixed length.
      sql<string>`sum(80 + char_length(name) + char_length(prompt_prefix)
        + coalesce(char_length(receiving::text), 0))`.as("characters"),
    ])
    .where("workspace_id", "=", workspaceId)
    .where("agent_id", "in", agentIds)
    .where("deleted_at", "is", null)
    .groupBy("agent_id")
    .execute();
  const counts = new Map(rows.map((row) => [row.agent_id, Number(row.characters)]));
  return agentIds.map((id) => counts.get(id) ?? 0);
}

/** Returns the triggers of these agents that are not deleted, oldest first. */
export async function listTriggersOfAgents(
  tx: WorkspaceTransaction,
  workspaceId: string,
  agentIds: readonly string[],
): Promise<
  Pick<
    TriggerRow,
    "agent_id" | "name" | "prompt_prefix" | "enabled" | "allows_callback" | "receiving"
  >[]
> {
  if (agentIds.length === 0) return [];
  return tx
    .selectFrom("triggers")
    .select(["agent_id", "name", "prompt_prefix", "enabled", "allows_callback", "receiving"])
    .where("workspace_id", "=", workspaceId)
    .where("agent_id", "in", agentIds)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
}

export interface InsertedTrigger {
  readonly id: string;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly prompt_prefix: string;
  readonly enabled: boolean;
  readonly allows_callback: boolean;
  /** As JSON. */
  readonly receiving: string | null;
}

/**
 * Inserts triggers with one statement.
 * @param rows At most 8,191: a statement has at most 65,535 parameters.
 */
export async function insertTriggers(
  tx: WorkspaceTransaction,
  rows: readonly InsertedTrigger[],
): Promise<void> {
  if (rows.length > 0) await tx.insertInto("triggers").values(rows).execute();
}

export function updateTriggerRow(
  tx: WorkspaceTransaction,
  row: TriggerRow,
  change: {
    name?: string | undefined;
    prompt_prefix?: string | undefined;
    enabled?: boolean | undefined;
    allows_callback?: boolean | undefined;
    /**
     * As JSON. null removes the settings. A change increments `receiving_version`, so that a
     * request that was verified with the previous settings is verified again.
     */
    receiving?: string | null | undefined;
    /** Encrypted. null removes it. */
    verify_token?: string | null;
  },
): Promise<TriggerRow> {
  const { receiving, ...fields } = change;
  return tx
    .updateTable("triggers")
    .set({ ...fields, updated_at: sql<Date>`now()` })
    .$if(receiving !== undefined, (query) =>
      query.set({ receiving: receiving ?? null, receiving_version: nextVersion }),
    )
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Must be set with every change of `receiving` or of the secrets. The statement that starts runs
 * rejects a request that was verified with an earlier version; the request is then verified again.
 */
const nextVersion = sql<number>`receiving_version + 1`;

/**
 * Stores the encrypted secrets of a trigger. The current secret becomes the previous one, which is
 * valid for `graceSeconds` more; with 0 it is deleted.
 */
export function updateSecretRow(
  tx: WorkspaceTransaction,
  row: TriggerRow,
  {
    secret,
    verifyToken,
    graceSeconds,
  }: { secret: string; verifyToken: string | null; graceSeconds: number },
): Promise<TriggerRow> {
  const keepsPrevious = graceSeconds > 0 && row.sender_secret !== null;
  return tx
    .updateTable("triggers")
    .set({
      sender_secret: secret,
      verify_token: verifyToken,
      previous_sender_secret: keepsPrevious ? row.sender_secret : null,
      previous_sender_secret_until: keepsPrevious
        ? sql<Date>`now() + make_interval(secs => ${graceSeconds})`
        : null,
      receiving_version: nextVersion,
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Makes the trigger wait this many seconds for a request to capture. null: it stops waiting. */
export function updateListeningRow(
  tx: WorkspaceTransaction,
  row: TriggerRow,
  seconds: number | null,
): Promise<TriggerRow> {
  return tx
    .updateTable("triggers")
    .set({
      listening_until:
        seconds === null ? null : sql<Date>`now() + make_interval(secs => ${seconds})`,
    })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Marks the trigger as deleted, and deletes its secrets: it cannot be restored. */
export async function deleteTriggerRow(tx: WorkspaceTransaction, row: TriggerRow): Promise<void> {
  await tx
    .updateTable("triggers")
    .set({
      deleted_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
      sender_secret: null,
      previous_sender_secret: null,
      previous_sender_secret_until: null,
      verify_token: null,
    })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .execute();
}

/**
 * Disables all triggers of an agent that are not deleted. Those that swallow requests while they
 * are disabled reject them from then on: senders would not notice that their events are dropped.
 */
export async function disableTriggersOf(
  tx: WorkspaceTransaction,
  workspaceId: string,
  agentId: string,
): Promise<void> {
  await tx
    .updateTable("triggers")
    .set({
      enabled: false,
      receiving: sql<string | null>`jsonb_set(receiving, '{when_disabled}', '"refuse"')`,
      receiving_version: nextVersion,
      updated_at: sql<Date>`now()`,
    })
    .where("workspace_id", "=", workspaceId)
    .where("agent_id", "=", agentId)
    .where("deleted_at", "is", null)
    .execute();
}
