export { addKey, createKey } from "./create.ts";
export { deleteKey } from "./delete.ts";
export { ensureBootstrapKey } from "./ensure-bootstrap.ts";
export { getKey } from "./get.ts";
export { listKeys } from "./list.ts";
export { type KeyUse, recordKeyUse } from "./record-use.ts";
export { mayBeKey, resolveKey } from "./resolve.ts";
export { rotateKey } from "./rotate.ts";
export { updateKey } from "./update.ts";
