import type { Allowances } from "@beckon/contract";
import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../../base/database/index.ts";

export type PlanRow = Selectable<Tables["plans"]>;

/** Returns the columns of these allowances. Values are text, because their type is bigint. */
const columnsOf = (allowances: Partial<Allowances>) =>
  Object.fromEntries(
    Object.entries(allowances)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, value === null ? null : String(value)]),
  );

const plans = (tx: WorkspaceTransaction, workspaceId: string) =>
  tx.selectFrom("plans").selectAll().where("workspace_id", "=", workspaceId);

export function findPlan(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
): Promise<PlanRow | undefined> {
  return plans(tx, workspaceId).where("id", "=", id).executeTakeFirst();
}

export function findPlanByName(
  tx: WorkspaceTransaction,
  workspaceId: string,
  name: string,
): Promise<PlanRow | undefined> {
  return plans(tx, workspaceId).where("name", "=", name).executeTakeFirst();
}

export function listPlanRows(tx: WorkspaceTransaction, workspaceId: string): Promise<PlanRow[]> {
  return plans(tx, workspaceId).execute();
}

export function insertPlan(
  tx: WorkspaceTransaction,
  { id, workspaceId, name }: { id: string; workspaceId: string; name: string },
  allowances: Allowances,
): Promise<PlanRow> {
  return tx
    .insertInto("plans")
    .values({ id, workspace_id: workspaceId, name, ...columnsOf(allowances) } as never)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function updatePlanRow(
  tx: WorkspaceTransaction,
  row: PlanRow,
  change: Partial<Allowances>,
): Promise<PlanRow> {
  return tx
    .updateTable("plans")
    .set({ ...columnsOf(change), updated_at: sql<Date>`now()` })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deletePlanRow(tx: WorkspaceTransaction, row: PlanRow): Promise<void> {
  await tx
    .deleteFrom("plans")
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .execute();
}

/**
 * Makes other transactions that change plans, or the plans of workspaces, wait until this
 * transaction ends. Such changes are rare. Row locks would not be enough: a change of a plan
 * concerns the workspaces that are on it, and a change of a workspace concerns its plans, so the
 * two would lock rows in opposite orders and could deadlock.
 */
export async function lockPlans(tx: WorkspaceTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('beckon.plans', 0))`.execute(tx);
}
