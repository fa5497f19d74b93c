import type { ModelList, Provider } from "@beckon/client";
import { isUnchecked } from "../../format/index.ts";
import type { MadeCheck } from "../queries.ts";

/** The state of a provider. */
export type ProviderState =
  | { readonly name: "loading" }
  /** The lists of models could not be read, so nothing is known. */
  | { readonly name: "unknown" }
  /**
   * The provider is the operator's, and new and changed agents use the workspace's own provider of
   * the same name. Versions of agents that used the operator's before still do.
   */
  | { readonly name: "replaced" }
  | {
      readonly name: "works";
      /** Without the provider's name and the slash. */
      readonly models: readonly string[];
      readonly atMs: number;
    }
  | { readonly name: "fails"; readonly error: string; readonly atMs: number }
  /** The provider does not list its models, so it cannot be checked. It can work. */
  | { readonly name: "unchecked"; readonly error: string; readonly atMs: number };

/** The lists of models as the page has read them. */
export interface ReadLists {
  readonly lists: readonly ModelList[] | undefined;
  /** Milliseconds since 1970. */
  readonly readAtMs: number;
  readonly isPending: boolean;
}

/**
 * Returns the state of a provider, from the last check or from the lists of models, whichever is
 * newer.
 */
export function stateOf(
  provider: Pick<Provider, "id" | "name">,
  { lists, readAtMs, isPending }: ReadLists,
  check: MadeCheck | undefined,
): ProviderState {
  const list = lists?.find(({ provider_id: id }) => id === provider.id);
  if (check !== undefined && (list === undefined || check.checkedAtMs >= readAtMs)) {
    const { works, models, error, checkedAtMs: atMs } = check;
    return works ? { name: "works", models, atMs } : failing(error ?? "It does not work.", atMs);
  }
  if (list !== undefined)
    return list.error === null
      ? { name: "works", models: list.models.map(withoutProvider), atMs: readAtMs }
      : failing(list.error, readAtMs);
  if (lists === undefined) return { name: isPending ? "loading" : "unknown" };
  const isReplaced = lists.some(
    ({ provider: name, origin }) => name === provider.name && origin === "workspace",
  );
  // If the provider has no list and is not replaced, it was added after the lists were read. The
  // lists are being refetched.
  return { name: isReplaced ? "replaced" : "loading" };
}

const failing = (error: string, atMs: number): ProviderState => ({
  name: isUnchecked(error) ? "unchecked" : "fails",
  error,
  atMs,
});

const withoutProvider = (model: string) => model.slice(model.indexOf("/") + 1);
