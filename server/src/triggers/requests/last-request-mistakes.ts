import type { MappingMistake } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import type { MappingServices } from "../../mapping/index.ts";
import { mapRequest } from "../map-request.ts";
import type { TriggerRow } from "../store.ts";
import { receivingOf } from "../trigger.ts";
import { type BodyServices, withBodyHold } from "./body-hold.ts";
import { decodeRequest } from "./decode-request.ts";
import { findLastRequest, requestsOf } from "./store.ts";
import { storedRequest } from "./trial-request.ts";

/** Maximum size of the body: evaluating a larger body would delay the response by seconds. */
const maxBytes = 1_048_576;

/**
 * Returns the mistakes that the trigger's filter and template make with the last request that it
 * received; an empty list if there is no request with a stored body. A mistake can contain values
 * of the request's payload, so the caller needs `runs:read`, as for opening a received request.
 * @throws ApiError `forbidden`; others if the request cannot be decoded or evaluated
 */
export async function mistakesWithLastRequest(
  ctx: Context & MappingServices & BodyServices,
  row: TriggerRow,
): Promise<MappingMistake[]> {
  permit(ctx, "runs:read");
  const receiving = receivingOf(row);
  if (receiving === null || (receiving.filter === null && receiving.template === null)) return [];
  const last = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    findLastRequest(tx, requestsOf(row), maxBytes),
  );
  if (last === undefined) return [];
  return withBodyHold(ctx, async (hold) => {
    const raw = storedRequest(last, receiving);
    const request = await decodeRequest(ctx.workspaceId, receiving, raw, hold);
    const mapped = await mapRequest(ctx.mapping, request);
    return mapped.kind === "failed" ? [mapped.mistake] : [];
  });
}
