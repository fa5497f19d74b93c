import type { Result } from "../../base/errors.ts";
import { type DecodedBody, mediaTypeOf, type RawRequest } from "../../receiving/index.ts";
import type { Arrival } from "./received-rows.ts";

/**
 * Returns the bytes that are hashed to recognize a repeat of a request with an Idempotency-Key: the
 * body as it was received or, if a sender may not be able to send the same bytes again, what the
 * body contains. Clients choose another boundary each time they send a multipart form, and
 * compressing a text again can give other bytes.
 */
export function repeatableBytes(
  { contentType, contentEncoding }: Pick<Arrival, "contentType" | "contentEncoding">,
  { body }: Pick<RawRequest, "body">,
  decoded: Result<DecodedBody>,
): Buffer {
  const isMultipart = mediaTypeOf(contentType ?? undefined) === "multipart/form-data";
  if (!decoded.ok || (!isMultipart && contentEncoding === null)) return body;
  const { text, files } = decoded.value;
  // The files of a form get new ids each time it is decoded.
  const indexes = new Map(files.map(({ id }, index) => [id, String(index)]));
  const stable = text.replace(/art_\w{26}/g, (id) => indexes.get(id) ?? id);
  return Buffer.concat([Buffer.from(stable), ...files.map(({ content }) => content)]);
}
