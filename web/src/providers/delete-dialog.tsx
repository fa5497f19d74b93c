import type { Provider } from "@beckon/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { announceChanges, announceIfOutdated, useWorkspace } from "../data/index.ts";
import { formatCounted } from "../format/index.ts";
import { ConfirmDialog, Link, useToast } from "../ui/index.ts";
import { agentsOfProviderQuery, modelsKey, providersKey } from "./queries.ts";

interface DeleteDialogProps {
  readonly provider: Provider;
  readonly close: () => void;
}

/** Maximum number of agents that are named. Further ones are only counted. */
const maxNamed = 5;

/**
 * The dialog that deletes a provider. It names the agents that use it, because the API rejects the
 * deletion while there are any.
 */
export function DeleteDialog({ provider, close }: DeleteDialogProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { data: agents, isError } = useQuery(agentsOfProviderQuery(workspace, provider.id));
  const remove = async () => {
    await workspace.client.providers.delete(provider.id);
    toast({ tone: "success", title: `Deleted the provider ${provider.name}` });
    void announceChanges(queryClient, providersKey(workspace.id), modelsKey(workspace.id));
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`Delete the provider ${provider.name}?`}
      effect={
        agents === undefined ? (
          isError ? (
            "It could not be checked which agents use it. If an agent does, it is not deleted. Otherwise its key is removed. This cannot be undone."
          ) : (
            "Checking which agents use it…"
          )
        ) : agents.length === 0 ? (
          "Agents can no longer use its models, and its key is removed. This cannot be undone."
        ) : (
          <>
            {`${formatCounted(agents.length, "agent uses", "agents use")} this provider: `}
            {agents.slice(0, maxNamed).map((agent, index) => (
              <span key={agent.id}>
                {index === 0 ? "" : ", "}
                <Link href={`/w/${workspace.id}/agents/${agent.id}`}>
                  <bdi>{agent.name}</bdi>
                </Link>
              </span>
            ))}
            {agents.length > maxNamed ? ", …" : ""}. Give them another model first. This cannot be
            undone.
          </>
        )
      }
      confirmLabel="Delete provider"
      pendingText="Deleting…"
      onConfirm={remove}
      onError={(thrown) =>
        void announceIfOutdated(
          queryClient,
          thrown,
          providersKey(workspace.id),
          modelsKey(workspace.id),
        )
      }
    />
  );
}
