export { ensureBootstrapKey } from "./ensure-bootstrap.ts";
export { mayBeKey, resolveKey } from "./resolve.ts";
