import type { Receiving } from "@beckon/contract";
import {
  decodeBody,
  type RawRequest,
  type ReceivedBodyHold,
  readEvent,
} from "../../receiving/index.ts";
import type { MappableRequest } from "../map-request.ts";

/**
 * Decodes the request of a preview, test or replay as if it had just been verified.
 * @param hold counts the bytes of an inflated body against the memory budget.
 * @throws ApiError the errors of `decodeBody`
 */
export async function decodeRequest(
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
