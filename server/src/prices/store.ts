import type { Rates } from "@beckon/contract";
import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../base/database/index.ts";

export type PriceRow = Selectable<Tables["prices"]>;

/** The columns of a provider that prices depend on. */
export type PricedProvider = Pick<
  Selectable<Tables["providers"]>,
  "id" | "workspace_id" | "name" | "kind" | "base_url" | "free"
>;

const providerColumns = ["id", "workspace_id", "name", "kind", "base_url", "free"] as const;

/**
 * Locks the workspace's own provider of this name, so that only one transaction at a time changes
 * its prices. Undefined if there is none. Sets the provider's `updated_at`, so that processes
 * prepare the agents that use it again, with the changed prices.
 */
export function lockProvider(
  tx: WorkspaceTransaction,
  workspaceId: string,
  name: string,
): Promise<PricedProvider | undefined> {
  return tx
    .updateTable("providers")
    .set({ updated_at: sql<Date>`clock_timestamp()` })
    .where("workspace_id", "=", workspaceId)
    .where("name", "=", name)
    .where("deleted_at", "is", null)
    .returning(providerColumns)
    .executeTakeFirst();
}

/**
 * Locks the provider to which a price belongs, so that only one transaction at a time changes its
 * prices. Undefined if there is no such price. Sets the provider's `updated_at`, because the cache
 * of prepared agents contains prices: processes prepare an agent again when this time has changed.
 */
export function lockProviderOfPrice(
  tx: WorkspaceTransaction,
  workspaceId: string,
  priceId: string,
): Promise<PricedProvider | undefined> {
  return tx
    .updateTable("providers")
    .set({ updated_at: sql<Date>`clock_timestamp()` })
    .where("workspace_id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .where("id", "in", (query) =>
      query
        .selectFrom("prices")
        .select("provider_id")
        .where("id", "=", priceId)
        .where("workspace_id", "=", workspaceId),
    )
    .returning(providerColumns)
    .executeTakeFirst();
}

export function findPrice(
  tx: WorkspaceTransaction,
  workspaceId: string,
  priceId: string,
): Promise<PriceRow | undefined> {
  return tx
    .selectFrom("prices")
    .selectAll()
    .where("id", "=", priceId)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
}

export function findPriceOfModel(
  tx: WorkspaceTransaction,
  provider: PricedProvider,
  model: string,
): Promise<PriceRow | undefined> {
  return tx
    .selectFrom("prices")
    .selectAll()
    .where("provider_id", "=", provider.id)
    .where("workspace_id", "=", provider.workspace_id)
    .where("model", "=", model)
    .executeTakeFirst();
}

export function findProvider(
  tx: WorkspaceTransaction,
  price: Pick<PriceRow, "provider_id" | "workspace_id">,
): Promise<PricedProvider | undefined> {
  return tx
    .selectFrom("providers")
    .select(providerColumns)
    .where("id", "=", price.provider_id)
    .where("workspace_id", "=", price.workspace_id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
}

export function insertPrice(
  tx: WorkspaceTransaction,
  row: { id: string; workspace_id: string; provider_id: string; model: string } & Rates,
): Promise<PriceRow> {
  return tx.insertInto("prices").values(row).returningAll().executeTakeFirstOrThrow();
}

export function updatePriceRow(
  tx: WorkspaceTransaction,
  row: PriceRow,
  change: { readonly [Name in keyof Rates]?: Rates[Name] | undefined },
): Promise<PriceRow> {
  return tx
    .updateTable("prices")
    .set({ ...change, updated_at: sql<Date>`clock_timestamp()` })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deletePriceRow(tx: WorkspaceTransaction, row: PriceRow): Promise<void> {
  await tx
    .deleteFrom("prices")
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .execute();
}
