import { ApiError } from "../errors.ts";
import { fieldOf } from "../json/index.ts";
import type { UnparsedBody } from "../parse.ts";
import type { Egress } from "./create-egress.ts";

/**
 * Returns the error for a body whose URL in `field` is a private address that the operator has not
 * allowed; otherwise undefined. Call this before the transaction, because resolving the host name
 * takes time, during which a transaction would hold its database connection. Throw the error in the
 * transaction, because other errors, such as that of a missing resource, take precedence.
 */
export async function privateAddressError(
  { egress, workspaceId }: { egress: Pick<Egress, "missingException">; workspaceId: string },
  body: UnparsedBody,
  field: string,
): Promise<ApiError | undefined> {
  const url = fieldOf(body.ok ? body.value : undefined, field);
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const hostPort = await egress.missingException(new URL(url), workspaceId);
  return hostPort === undefined
    ? undefined
    : new ApiError("bad_request", `${field}: ${howToAllow(hostPort)}`);
}

/**
 * Returns a message that says how the operator can allow calls to a private address, which is given
 * as `host:port`.
 */
export function howToAllow(hostPort: string): string {
  return (
    `${hostPort} is not a public address, so Beckon does not call it. The operator can allow it: ` +
    `add ${hostPort} to BECKON_EGRESS_ALLOW (several addresses are separated by commas) and start ` +
    "Beckon again."
  );
}
