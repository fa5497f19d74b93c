import {
  parseUrlTemplate,
  type ToolGrant,
  type ToolGrantBody,
  type ToolInDocument,
} from "@beckon/contract";
import { type Egress, howToAllow } from "../base/egress/index.ts";
import { ApiError } from "../base/errors.ts";

/** The service that operations need to check the addresses in the tools that they save. */
export interface ToolAddressServices {
  readonly egress: Pick<Egress, "missingAddressException">;
}

/**
 * Rejects an operation of an HTTP tool whose URL has a private address that the operator has not
 * allowed, because every call would fail. Names are not resolved: each call checks their addresses.
 * @param before the agent's current tools. Their origins are accepted, so that the other fields of
 *   the tools can be changed after the operator has withdrawn an address.
 * @throws ApiError `bad_request`
 */
export function requireCallableTools(
  { egress }: ToolAddressServices,
  given: readonly (ToolGrantBody | ToolInDocument)[],
  before: readonly ToolGrant[] = [],
): void {
  const accepted = new Set([...targetsOf(before)].map(({ origin }) => origin));
  for (const { origin, path } of targetsOf(given)) {
    const hostPort = accepted.has(origin)
      ? undefined
      : egress.missingAddressException(new URL(origin));
    if (hostPort !== undefined)
      throw new ApiError("bad_request", `${path}: ${howToAllow(hostPort)}`);
  }
}

/** Yields the origin of each operation, and the path of its URL in the agent. */
function* targetsOf(tools: readonly (ToolGrantBody | ToolInDocument)[]) {
  for (const [index, grant] of tools.entries()) {
    if (grant.type !== "http") continue;
    for (const [position, { url }] of grant.operations.entries()) {
      const parsed = parseUrlTemplate(url);
      if (typeof parsed !== "string")
        yield { origin: parsed.origin, path: `tools.${index}.operations.${position}.url` };
    }
  }
}
