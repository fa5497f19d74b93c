export { defaultModel } from "./default-model.ts";
export { AddProvider } from "./form/add-provider.tsx";
export { ProviderHelp } from "./help/provider-help.tsx";
export { modelsQuery } from "./queries.ts";
export { AllowAddress } from "./state/allow-address.tsx";
