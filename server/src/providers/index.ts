export { checkProvider } from "./check.ts";
export { connectionOf, type ProviderConnection } from "./connection.ts";
export { createProvider } from "./create.ts";
export { deleteProvider } from "./delete.ts";
export { getProvider } from "./get.ts";
export { listProviders } from "./list.ts";
export { listModels, type ModelListServices } from "./list-models.ts";
export { type FetchedModels, ModelLists } from "./model-lists/index.ts";
export { modelMistake } from "./model-mistake.ts";
export { Discovery, type ModelServer, modelServers, operatorProviders } from "./operator/index.ts";
export { reEncryptProviderKeys } from "./re-encrypt-keys.ts";
export {
  type FoundProviders,
  findNamedByModels,
  modelResolver,
  resolveModel,
} from "./resolve-model.ts";
export { updateProvider } from "./update.ts";
