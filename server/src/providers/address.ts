import { defaultBaseUrls, type ProviderKind, providerKind } from "@beckon/contract";

/** Where the API of a provider is, and what it speaks. */
export interface ProviderAddress {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
}

/** The kind of a stored provider, and where its API is. */
export function addressOf(row: {
  readonly kind: string;
  readonly base_url: string | null;
}): ProviderAddress {
  const kind = providerKind.parse(row.kind);
  return { kind, baseUrl: rootOf(kind, row.base_url ?? undefined) };
}

/** The root of a kind's API, without a slash at its end: `given`, else the kind's own. Anthropic's is often given as its host alone. */
export function rootOf(kind: ProviderKind, given: string | undefined): string {
  const root = (
    given ?? (kind === "openai-compatible" ? undefined : defaultBaseUrls[kind])
  )?.replace(/\/+$/, "");
  if (root === undefined) throw new Error("an openai-compatible provider has no base URL");
  return kind === "anthropic" && `${root}/v1` === defaultBaseUrls.anthropic
    ? defaultBaseUrls.anthropic
    : root;
}
