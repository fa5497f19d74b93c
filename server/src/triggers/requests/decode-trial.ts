import type { Receiving } from "@beckon/contract";
import { type DecodedBody, decodeBody, type RawRequest, readEvent } from "../../receiving/index.ts";
import type { MappableRequest } from "../map-request.ts";

/**
 * Decodes a request that did not arrive now, as if it had just been verified.
 * @throws ApiError the errors of `decodeBody`
 */
export async function decodeTrial(
  workspaceId: string,
  receiving: Receiving,
  raw: RawRequest,
): Promise<MappableRequest & { readonly decoded: DecodedBody }> {
  // The body was counted when it arrived; it is inflated to at most the limit of the trigger.
  const decoded = await decodeBody(receiving, raw, () => true);
  return {
    workspaceId,
    receiving,
    raw,
    event: readEvent(receiving, raw, decoded),
    decoded,
    files: decoded.files.map(({ id, name, media_type: type, size }) => ({ name, type, size, id })),
  };
}
