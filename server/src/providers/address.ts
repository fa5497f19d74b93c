import { defaultBaseUrls, type ProviderKind, providerKind } from "@beckon/contract";

/** The base URL and the API format of a provider. */
export interface ProviderAddress {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
}

/** Returns the kind and the base URL of a stored provider. */
export function addressOf(row: {
  readonly kind: string;
  readonly base_url: string | null;
}): ProviderAddress {
  const kind = providerKind.parse(row.kind);
  return { kind, baseUrl: rootOf(kind, row.base_url ?? undefined) };
}

/**
 * Returns the root URL of a kind's API without a trailing slash. The root is `given`, or the
 * default of the kind if `given` is undefined. If `given` is only the host of Anthropic, as users
 * often send it, `/v1` is added.
 */
export function rootOf(kind: ProviderKind, given: string | undefined): string {
  const root = (
    given ?? (kind === "openai-compatible" ? undefined : defaultBaseUrls[kind])
  )?.replace(/\/+$/, "");
  if (root === undefined) throw new Error("an openai-compatible provider has no base URL");
  return kind === "anthropic" && `${root}/v1` === defaultBaseUrls.anthropic
    ? defaultBaseUrls.anthropic
    : root;
}
