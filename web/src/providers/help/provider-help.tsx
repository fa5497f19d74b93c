import { lazy, Suspense } from "react";
import type { ProviderHelpProps } from "./provider-help-panel.tsx";

const ProviderHelpPanel = lazy(async () => ({
  default: (await import("./provider-help-panel.tsx")).ProviderHelpPanel,
}));

/**
 * Shows where an agent can get a model from: first the existing providers, then the demo model,
 * then a button that adds a provider. The code is loaded when this is shown, because a workspace
 * with a provider does not need it.
 */
export function ProviderHelp(props: ProviderHelpProps) {
  return (
    <Suspense>
      <ProviderHelpPanel {...props} />
    </Suspense>
  );
}
