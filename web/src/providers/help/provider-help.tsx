import { lazyPart } from "../../ui/index.ts";

/**
 * Shows where an agent can get a model from: first the existing providers, then the demo model,
 * then a button that adds a provider. The code is loaded when this is shown, because a workspace
 * with a provider does not need it.
 */
export const ProviderHelp = lazyPart(
  async () => (await import("./provider-help-panel.tsx")).ProviderHelpPanel,
);
