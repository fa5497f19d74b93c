import { EmptyState } from "../../ui/index.ts";

interface NoProvidersProps {
  /** Whether the operator has set some up. */
  readonly hasOthers: boolean;
}

/** What stands in place of the workspace's own providers. The action is in the page's header. */
export function NoProviders({ hasOthers }: NoProvidersProps) {
  return (
    <EmptyState>
      {hasOthers
        ? "Agents use the providers of this installation. Add one here to use an account or a server of your own."
        : "Until you add an account or a server with models, agents can only use the demo model."}
    </EmptyState>
  );
}
