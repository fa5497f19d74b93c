import type { Receiving } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { decodeBody, type RawRequest, ReceivedBodyHold, readEvent } from "../../receiving/index.ts";
import type { RunServices } from "../../runs/index.ts";
import type { MappableRequest } from "../map-request.ts";

/** The services that an operation needs to read or decode the body of a received request. */
export type BodyServices = { readonly runs: Pick<RunServices, "memory"> };

/**
 * Calls `work` with a hold, which counts the memory of bodies against the budget of the caller's
 * workspace. The hold is released when `work` is done.
 */
export async function withBodyHold<T>(
  ctx: Context & BodyServices,
  work: (hold: ReceivedBodyHold) => Promise<T>,
): Promise<T> {
  const hold = new ReceivedBodyHold(ctx.runs.memory, ctx.workspaceId);
  try {
    return await work(hold);
  } finally {
    hold.release();
  }
}

/**
 * Decodes the request of a preview, test or replay as if it had just been verified.
 * @param hold counts the bytes of an inflated body against the memory budget.
 * @throws ApiError the errors of `decodeBody`
 */
export async function decodeTrial(
  workspaceId: string,
  receiving: Receiving,
  raw: RawRequest,
  hold: ReceivedBodyHold,
): Promise<MappableRequest> {
  const decoded = await decodeBody(receiving, raw, hold.growBytes);
  return {
    workspaceId,
    receiving,
    raw,
    event: readEvent(receiving, raw, decoded),
    decoded,
  };
}
