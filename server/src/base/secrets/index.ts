export { boundPlace, openFor, requireGivenFor, type SecretOwner, sealFor } from "./bound-secret.ts";
export { checkMasterKey, type Queryable, replaceMasterKeyCheck } from "./check-master-key.ts";
export { hashCredential, isCredential, newCredential } from "./credential.ts";
export { keepSecret } from "./keep-secret.ts";
export { type Resealed, type Resealing, resealColumn } from "./re-encrypt.ts";
export {
  createSecretCipher,
  parseMasterKey,
  type SecretBinding,
  type SecretCipher,
} from "./secret-cipher.ts";
