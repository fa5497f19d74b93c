export { type CredentialPrefix, hashCredential, isCredential, newCredential } from "./credential.ts";
export { createSealer, type Place, parseMasterKey, type Sealer } from "./sealer.ts";
