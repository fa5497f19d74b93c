import type { ReactNode } from "react";
import { CurlLine, EmptyState } from "../../ui/index.ts";

interface NoProvidersProps {
  /** Whether the operator has set some up. */
  readonly hasOthers: boolean;
  /** The primary action. */
  readonly action: ReactNode;
}

/** The shell inserts the key, which thus stays out of its history. */
const body = `{"name": "openai", "kind": "openai",
       "api_key": "'"$OPENAI_API_KEY"'"}`;

/** What stands in place of the workspace's own providers. */
export function NoProviders({ hasOthers, action }: NoProvidersProps) {
  return (
    <EmptyState action={action} snippet={<CurlLine path="/providers" body={body} />}>
      A provider is an account or a server with models for your agents.{" "}
      {hasOthers
        ? "Without one here they use those of this installation."
        : "Until you add one, they can only use the demo model."}
    </EmptyState>
  );
}
