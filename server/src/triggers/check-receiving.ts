import {
  type MappingMistake,
  maxInputBytes,
  type Receiving,
  type Verification,
} from "@beckon/contract";
import type { Context } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";
import type { MappingServices } from "../mapping/index.ts";
import { isSecretHeader } from "../receiving/index.ts";

/**
 * Checks what the schema of the settings cannot check: the filter and the template, and settings
 * that depend on each other. Call this before the transaction: a check can wait 10 seconds for
 * other evaluations, and a transaction would hold its connection and its locks meanwhile.
 * @throws ApiError `bad_request`; `unavailable` if too many evaluations wait
 */
export async function requireValidReceiving(
  ctx: Context & MappingServices,
  receiving: Receiving | null,
): Promise<void> {
  if (receiving === null) return;
  const { verification, filter, template, bodies, event_type } = receiving;
  // If bodies can be larger than the input of a run, a template must select the part that the agent
  // sees.
  if (bodies.max_bytes > maxInputBytes && template === null) {
    throw new ApiError(
      "bad_request",
      "receiving.bodies.max_bytes can be more than 1,048,576 (1 MiB) only with a template. Set receiving.template, or lower the limit.",
    );
  }
  if (isTimeInBody(verification) && (bodies.gzip || bodies.multipart)) {
    throw new ApiError(
      "bad_request",
      "receiving.verification.timestamp can be a pointer only if receiving.bodies.gzip and receiving.bodies.multipart are false. Set them to false, or use a timestamp in a header.",
    );
  }
  // Not part of the schema, which also parses stored settings: these may name such a header.
  if (
    event_type !== null &&
    typeof event_type === "object" &&
    "header" in event_type &&
    isSecretHeader(verification, event_type.header)
  ) {
    throw new ApiError(
      "bad_request",
      `receiving.event_type.header: was ${event_type.header}, a header of credentials or signatures, and event types are shown. Choose another header, or set event_type to null.`,
    );
  }
  if (filter === null && template === null) return;
  const [mistake] = await ctx.mapping.check({ tenant: ctx.workspaceId, filter, template });
  if (mistake !== undefined)
    throw new ApiError("bad_request", `receiving.${partOf(mistake)}: ${mistake.message}`);
}

/**
 * Returns whether requests are verified with a time in the body. It is read before the body is
 * decoded, so a compressed body or a multipart form would never be accepted.
 */
function isTimeInBody(verification: Verification): boolean {
  if (verification.kind !== "hmac" || verification.timestamp === null) return false;
  return "pointer" in verification.timestamp;
}

function partOf({ part, line }: MappingMistake): string {
  return line === null ? part : `${part}, line ${line}`;
}
