import type { Rates } from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";

/** A model of the list of prices. */
export interface UsedModel {
  /** `provider/model`. */
  readonly model: string;
  /** Id of the workspace's own provider; null if the model is built in or the operator's. */
  readonly providerId: string | null;
  /** The workspace's own provider; null if the model is built in or the operator's. */
  readonly provider: {
    readonly id: string;
    readonly kind: string;
    readonly base_url: string | null;
    readonly free: boolean;
  } | null;
  /** The price that the workspace set; null if it set none. Times are in ISO 8601. */
  readonly price: (Rates & { id: string; created_at: string; updated_at: string }) | null;
}

/**
 * Returns the models that the current versions of existing agents use, and the models with a price,
 * in the order of their names. A name can occur twice: an agent keeps the operator's provider after
 * the workspace has added its own provider with the same name.
 *
 * Reads the tables of `agents/` and `providers/` directly, so that one statement can sort all these
 * models and return one page of them.
 *
 * @param options.above the last model of the page before; undefined for the first page.
 * @param options.model if it is not undefined, only this model (`provider/model`) is listed. If no
 *   agent uses it, it is listed only if the workspace has its own provider with the name before the
 *   slash.
 */
export async function listUsedModels(
  tx: WorkspaceTransaction,
  workspaceId: string,
  options: {
    readonly limit: number;
    readonly above: { readonly model: string; readonly providerId: string } | undefined;
    readonly model: string | undefined;
  },
): Promise<UsedModel[]> {
  const { limit, above, model } = options;
  const { rows } = await sql<UsedModel>`
    with used as (
      select v.config ->> 'model' as model, v.provider_id
      from agents a
      join agent_versions v
        on v.agent_id = a.id and v.workspace_id = a.workspace_id and v.version = a.version
      where a.workspace_id = ${workspaceId} and a.deleted_at is null
      union
      select p.name || '/' || r.model, r.provider_id
      from prices r
      join providers p on p.id = r.provider_id and p.workspace_id = r.workspace_id
      where r.workspace_id = ${workspaceId} and p.deleted_at is null
      union
      select ${model ?? null}::text, p.id
      from providers p
      where p.workspace_id = ${workspaceId} and p.deleted_at is null
        and p.name = split_part(${model ?? null}::text, '/', 1)
    )
    select u.model, u.provider_id as "providerId",
      case when p.id is not null then jsonb_build_object(
        'id', p.id, 'kind', p.kind, 'base_url', p.base_url, 'free', p.free) end as provider,
      to_jsonb(r) as price
    from used u
    left join providers p
      on p.id = u.provider_id and p.workspace_id = ${workspaceId} and p.deleted_at is null
    left join prices r
      on r.provider_id = p.id and r.workspace_id = p.workspace_id
      and r.model = substr(u.model, strpos(u.model, '/') + 1)
    where (${model ?? null}::text is null or u.model = ${model ?? null}::text)
      and (${above?.model ?? null}::text is null
        or (u.model collate "C", coalesce(u.provider_id, '') collate "C")
          > (${above?.model ?? null}::text, ${above?.providerId ?? null}::text))
    order by u.model collate "C", coalesce(u.provider_id, '') collate "C"
    limit ${limit}`.execute(tx);
  return rows;
}
