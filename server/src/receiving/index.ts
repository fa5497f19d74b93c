export { isAllowedAddress } from "./addresses.ts";
export {
  type DecodedBody,
  decodeBody,
  type HoldBytes,
  type ReceivedFile,
  tooLarge,
  tooManyBodies,
  toPayload,
} from "./bodies/index.ts";
export { answerHandshake, type HandshakeAnswer } from "./handshake.ts";
export { presets } from "./presets/index.ts";
export { queryOf, type RawRequest } from "./raw-request.ts";
export { type ReceivedEvent, readEvent } from "./read-event.ts";
export { generateSenderSecret, senderSecretMistake } from "./sender-secret.ts";
export { chosenHeaders, chosenQuery, storedHeaders } from "./shown-values.ts";
export type { ValidSecrets, VerificationResult } from "./verification-result.ts";
export { verifyRequest } from "./verify.ts";
