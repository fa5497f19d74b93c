export { AddProvider } from "./form/add-provider.tsx";
export { ProviderHelp } from "./help/provider-help.tsx";
export { modelsQuery } from "./queries.ts";
