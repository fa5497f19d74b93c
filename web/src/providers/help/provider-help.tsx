import { lazy, Suspense } from "react";
import type { ProviderHelpProps } from "./provider-help-panel.tsx";

const ProviderHelpPanel = lazy(async () => ({
  default: (await import("./provider-help-panel.tsx")).ProviderHelpPanel,
}));

/**
 * Shows where an agent can get a model from: first the providers that Beckon has found, then the
 * demo model, then a form for a new provider. Its code is loaded when it is shown, because a
 * workspace with a provider does not need it.
 */
export function ProviderHelp(props: ProviderHelpProps) {
  return (
    <Suspense>
      <ProviderHelpPanel {...props} />
    </Suspense>
  );
}
