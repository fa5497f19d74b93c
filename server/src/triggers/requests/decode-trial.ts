import type { Receiving } from "@beckon/contract";
import { type DecodedBody, decodeBody, type RawRequest, readEvent } from "../../receiving/index.ts";
import type { MappableRequest } from "../map-request.ts";

/**
 * Decodes the request of a preview, test or replay as if it had just been verified.
 * @throws ApiError the errors of `decodeBody`
 */
export async function decodeTrial(
  workspaceId: string,
  receiving: Receiving,
  raw: RawRequest,
): Promise<MappableRequest & { readonly decoded: DecodedBody }> {
  // The memory of this body is not counted again, because the trigger's limit bounds its inflated
  // size.
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
