import { defaultBaseUrls, type Rates } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import type { PricedModel } from "./price-table.ts";

/**
 * Returns what determines the price of a model of a workspace's own provider; undefined if there is
 * no such provider. Reads as the engine's role, which has access to all workspaces.
 * @param model the part of the model's name after the slash.
 */
export async function readOwnPricing(
  database: Database,
  { workspaceId, providerId, model }: { workspaceId: string; providerId: string; model: string },
): Promise<Pick<PricedModel, "baseUrl" | "own"> | undefined> {
  const { rows } = await database.engine.query<{
    kind: string;
    base_url: string | null;
    free: boolean;
    rates: Rates | null;
  }>({
    name: "read-own-pricing",
    text: `select p.kind, p.base_url, p.free, case when r.id is not null then jsonb_build_object(
        'input_micros_per_million', r.input_micros_per_million,
        'output_micros_per_million', r.output_micros_per_million,
        'cached_input_micros_per_million', r.cached_input_micros_per_million,
        'cache_write_micros_per_million', r.cache_write_micros_per_million) end as rates
      from providers p
      left join prices r
        on r.workspace_id = p.workspace_id and r.provider_id = p.id and r.model = $3
      where p.workspace_id = $1 and p.id = $2`,
    values: [workspaceId, providerId, model],
  });
  const row = rows[0];
  if (row === undefined) return undefined;
  return { baseUrl: baseUrlOf(row), own: { isFree: row.free, rates: row.rates ?? undefined } };
}

const defaults: Readonly<Record<string, string | undefined>> = defaultBaseUrls;

/**
 * Returns the root of a stored provider's API. Without a base URL it is the default of the
 * provider's kind; undefined if the kind has no default.
 */
export function baseUrlOf(row: {
  readonly kind: string;
  readonly base_url: string | null;
}): string | undefined {
  return row.base_url ?? defaults[row.kind];
}
