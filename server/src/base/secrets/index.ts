export {
  bindingFor,
  decryptFor,
  encryptFor,
  requireGivenFor,
  type SecretOwner,
} from "./bound-secret.ts";
export {
  checkMasterKey,
  identifyMasterKey,
  type Queryable,
  replaceMasterKeyCheck,
} from "./check-master-key.ts";
export { hashCredential, isCredential, newCredential } from "./credential.ts";
export { equalTexts } from "./equal-texts.ts";
export { createReEncrypt } from "./re-encrypt.ts";
export { readOrCreateSecret } from "./read-or-create-secret.ts";
export { type Scrubber, scrubberFor } from "./scrub-secrets.ts";
export {
  createSecretCipher,
  parseMasterKey,
  type SecretBinding,
  type SecretCipher,
} from "./secret-cipher.ts";
