export { type HoldBytes, tooLarge, tooManyBodies } from "./body-limits.ts";
export { type DecodedBody, decodeBody } from "./decode-body.ts";
export type { ReceivedFile } from "./multipart.ts";
export { toPayload } from "./to-payload.ts";
