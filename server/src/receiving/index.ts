export { isAllowedAddress } from "./addresses.ts";
export {
  type DecodedBody,
  decodeBody,
  encodedBody,
  encodingOf,
  formType,
  type HoldBytes,
  heldPerByte,
  ReceivedBodyHold,
  textOf,
  tooLarge,
  tooLargeForMemory,
  tooManyBodies,
  toPayload,
} from "./bodies/index.ts";
export { answerHandshake } from "./handshake.ts";
export { presets } from "./presets/index.ts";
export { headerOf, mediaTypeOf, type RawRequest } from "./raw-request.ts";
export { type ReceivedEvent, readEvent } from "./read-event.ts";
export { generateSenderSecret, senderSecretMistake } from "./sender-secret.ts";
export {
  chosenHeaders,
  chosenQuery,
  isSecretHeader,
  storedHeaders,
  withoutTriggerTokens,
} from "./shown-values.ts";
export type { ValidSecrets } from "./verification-result.ts";
export { verifyRequest } from "./verify.ts";
