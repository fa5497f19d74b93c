export {
  type HoldBytes,
  heldPerByte,
  tooLarge,
  tooLargeForMemory,
  tooManyBodies,
} from "./body-limits.ts";
export { encodedBody, encodingOf } from "./content-encoding.ts";
export { type DecodedBody, decodeBody } from "./decode-body.ts";
export { hasMoreFields, maxFormFields, urlEncodedFields } from "./form-fields.ts";
export { ReceivedBodyHold } from "./received-body-hold.ts";
export { textOf } from "./text-of.ts";
export { formType, toPayload } from "./to-payload.ts";
