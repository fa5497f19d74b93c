import type { ModelList } from "@beckon/contract";
import { elapsed } from "../base/clock.ts";
import { type Context, type OperatorProvider, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { onBehalfOf, type Transport } from "../base/egress/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Page, readPage } from "../base/page.ts";
import { toConnection } from "./connection.ts";
import type { FetchedModels, ModelLists } from "./model-lists/index.ts";
import { afterOwn, operatorProviderId, providerIdForm } from "./operator/index.ts";
import { findProviderNames, listProviderRows, type ProviderRow } from "./store.ts";

/**
 * Maximum number of providers that are requested at the same time. It limits the memory that their
 * responses take.
 */
const concurrency = 20;
const timeoutMs = 2_000;
/**
 * Time after which a call of `listModels` requests no further lists. The last request takes at most
 * `timeoutMs`, so the call ends within 3.5 seconds. After 4 seconds, `http/` would reject the GET
 * request (`read-deadline.ts`). The next call of `listModels` requests the remaining providers.
 */
const startWithinMs = 1_500;

/** The services that requests for lists of models need. */
export interface ModelListServices {
  /** Calls a workspace's own providers, within the egress rules. */
  readonly egress: Pick<Transport, "fetch">;
  /** Calls the operator's providers, at any address. */
  readonly unrestricted: Pick<Transport, "fetch">;
  readonly modelLists: ModelLists;
}

/** A provider on the requested page, with the functions that return its models. */
interface Listed {
  readonly id: string;
  readonly list: Omit<ModelList, "models" | "error">;
  /** Returns the provider's models if no request is needed, otherwise undefined. */
  readonly known: () => Models | undefined;
  readonly request: () => Models;
}

type Models = Promise<Pick<FetchedModels, "models" | "error">>;

const notRequested = {
  models: [],
  error: "Its models were not requested, since other providers took too long. Try again.",
} as const;

/**
 * Lists the models that agents of the workspace can use, one entry for each provider. The
 * workspace's own providers come first, newest first, then the operator's providers, then `demo`.
 * Answers within 4 seconds. The entry of a provider whose models could not be listed contains an
 * error and no models. Results are up to 30 seconds old.
 * @throws ApiError `forbidden` if the caller is not allowed to read providers.
 */
export async function listModels({
  ctx,
  input,
}: {
  ctx: Context & ModelListServices;
  input: { query: unknown };
}): Promise<Page<ModelList>> {
  permit(ctx, "providers:read");
  const page = readPage(
    input.query,
    { list: "models", workspace: ctx.workspaceId },
    providerIdForm,
  );
  const begun = elapsed();
  await ctx.operator?.probe(ctx.workspaceId);
  const offered = ctx.operator?.usableBy(ctx.workspaceId) ?? [];
  const { rows, hidden } = await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => ({
    rows: await listProviderRows(tx, ctx.workspaceId, page),
    hidden: await findProviderNames(
      tx,
      ctx.workspaceId,
      offered.map(({ name }) => name),
    ),
  }));
  const operators = offered
    .filter(({ name }) => !hidden.includes(name))
    .map((provider) => ofOperator(ctx, provider));
  const { data, next } = page.page([
    ...rows.map((row) => ofWorkspace(ctx, row)),
    ...afterOwn(page, [...operators, demo]),
  ]);
  const lists: ModelList[] = [];
  const remaining = data.entries();
  const listNext = async () => {
    for (const [index, { list, known, request }] of remaining) {
      const isLate = elapsed() - begun > startWithinMs;
      const { models, error } = await (known() ?? (isLate ? notRequested : request()));
      lists[index] = { ...list, models: models.map((name) => `${list.provider}/${name}`), error };
    }
  };
  await Promise.all(Array.from({ length: concurrency }, listNext));
  return { data: lists, next };
}

const demo: Listed = {
  id: "demo",
  list: { provider: "demo", provider_id: null, origin: "built_in" },
  known: async () => ({ models: ["echo"], error: null }),
  request: async () => notRequested,
};

function ofWorkspace(ctx: Context & ModelListServices, row: ProviderRow): Listed {
  const { id, name } = row;
  const key = listKey(row);
  return {
    id,
    list: { provider: name, provider_id: id, origin: "workspace" },
    known: () => ctx.modelLists.recent(key),
    async request() {
      try {
        const connection = toConnection(ctx.cipher, row);
        const fetched = () => ctx.modelLists.fetch(connection, ctx.egress, timeoutMs, key);
        return await onBehalfOf(ctx.workspaceId, fetched);
      } catch (thrown) {
        if (thrown instanceof ApiError) return { models: [], error: thrown.message };
        throw thrown;
      }
    },
  };
}

/** Returns the cache key of a provider's models. It changes when the provider is changed. */
export function listKey({ id, updated_at }: Pick<ProviderRow, "id" | "updated_at">): string {
  return `${id} ${updated_at.toISOString()}`;
}

function ofOperator(
  { modelLists, unrestricted }: ModelListServices,
  provider: OperatorProvider,
): Listed {
  const id = operatorProviderId(provider);
  const { name, origin, models } = provider;
  return {
    id,
    list: { provider: name, provider_id: id, origin },
    known: () =>
      models === undefined ? modelLists.recent(id) : Promise.resolve({ models, error: null }),
    request: () => modelLists.fetch(provider, unrestricted, timeoutMs, id),
  };
}
