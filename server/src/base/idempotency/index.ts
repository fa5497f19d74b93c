export { type Once, once } from "./once.ts";
export { reEncryptResponses } from "./re-encrypt.ts";
export { idempotencyScope } from "./scope.ts";
