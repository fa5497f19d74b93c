import { defaultBaseUrls, type ProviderKind, providerKind } from "@beckon/contract";
import type { Egress } from "../base/egress/index.ts";
import { ApiError } from "../base/errors.ts";
import { fieldOf } from "../base/json-object.ts";
import type { UnparsedBody } from "../base/parse.ts";

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

/**
 * Returns the error for a body whose `base_url` is a private address that the operator has not
 * allowed; otherwise undefined. Call this before the transaction and throw the error in it:
 * resolving the host name takes time, during which a transaction would hold its database
 * connection.
 */
export async function privateAddressError(
  egress: Pick<Egress, "missingException">,
  body: UnparsedBody,
): Promise<ApiError | undefined> {
  const url = fieldOf(body.ok ? body.value : undefined, "base_url");
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const hostPort = await egress.missingException(new URL(url));
  return hostPort === undefined
    ? undefined
    : new ApiError("bad_request", `base_url: ${howToAllow(hostPort)}`);
}

/**
 * Returns a message that says how the operator can allow calls to a private address, which is given
 * as `host:port`.
 */
export function howToAllow(hostPort: string): string {
  return (
    `${hostPort} is not a public address, so Beckon does not call it. The operator can allow it: ` +
    `BECKON_EGRESS_ALLOW=${hostPort} script/server (several addresses are separated by commas).`
  );
}
