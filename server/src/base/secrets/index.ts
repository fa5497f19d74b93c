export { checkMasterKey } from "./check-master-key.ts";
export { hashCredential, isCredential, newCredential } from "./credential.ts";
export { keepSecret } from "./keep-secret.ts";
export { createSealer, type Place, parseMasterKey, type Sealer } from "./sealer.ts";
