export { Discovery } from "./discovery.ts";
export { type ModelServer, modelServers } from "./model-servers.ts";
export {
  afterOwn,
  findOperatorProvider,
  operatorNameIn,
  operatorProviderId,
  providerIdForm,
  rejectOperatorProvider,
  toOperatorProvider,
} from "./operator-provider.ts";
export { operatorProviders } from "./operator-providers.ts";
