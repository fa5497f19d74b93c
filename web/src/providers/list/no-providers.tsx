import type { ReactNode } from "react";
import { useWorkspace } from "../../data/index.ts";
import { CurlLine, EmptyState } from "../../ui/index.ts";

interface NoProvidersProps {
  /** Whether the operator has configured providers that the workspace can use. */
  readonly hasOthers: boolean;
  /** The primary action, a button. */
  readonly action: ReactNode;
}

/**
 * Body of the example call. The shell inserts the key, so the key is not in the shell's history.
 */
const body = `{"name": "openai", "kind": "openai",
       "api_key": "'"$OPENAI_API_KEY"'"}`;

/** Shown instead of a list if the workspace has no providers of its own. */
export function NoProviders({ hasOthers, action }: NoProvidersProps) {
  const { id } = useWorkspace();
  return (
    <EmptyState
      action={action}
      snippet={<CurlLine path="/providers" body={body} credentialHref={`/w/${id}/keys`} />}
    >
      A provider is an account or a server with models for your agents.{" "}
      {hasOthers
        ? "Without one here they use those of this installation."
        : "Until you add one, they can only use the demo model."}
    </EmptyState>
  );
}
