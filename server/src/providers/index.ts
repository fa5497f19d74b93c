export { connectionOf } from "./connection.ts";
export { createProvider } from "./create.ts";
export { deleteProvider } from "./delete.ts";
export { getProvider } from "./get.ts";
export { listProviders } from "./list.ts";
export { resolveModel } from "./resolve-model.ts";
export { updateProvider } from "./update.ts";
