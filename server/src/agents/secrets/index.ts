export { copySecrets } from "./copy-secrets.ts";
export { openSecret } from "./open-secret.ts";
export { planSecrets } from "./plan-secrets.ts";
export { reEncryptToolSecrets } from "./re-encrypt-secrets.ts";
export { requireStoredSecrets } from "./require-stored-secrets.ts";
