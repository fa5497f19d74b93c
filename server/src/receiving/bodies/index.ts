export { tooLarge, tooLargeForMemory, tooManyBodies } from "./body-limits.ts";
export { type DecodedBody, decodeBody } from "./decode-body.ts";
export { textOf } from "./text-of.ts";
export { toPayload } from "./to-payload.ts";
