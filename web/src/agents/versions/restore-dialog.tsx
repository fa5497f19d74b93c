import { useQueryClient } from "@tanstack/react-query";
import { announceChanges, isStale, useWorkspace } from "../../data/index.ts";
import { ConfirmDialog, useNavigateFrom, useToast } from "../../ui/index.ts";
import { agentQuery, agentsKey, useAgent } from "../queries.ts";

interface RestoreDialogProps {
  readonly version: number;
  readonly close: () => void;
}

/** Asks for confirmation before a version is restored, and explains the effect. */
export function RestoreDialog({ version, close }: RestoreDialogProps) {
  const workspace = useWorkspace();
  const agent = useAgent();
  const queryClient = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const restore = async () => {
    const navigate = navigateFrom();
    try {
      const restored = await workspace.client.versions.restore(agent.id, version, {
        ifMatch: agent.version,
      });
      queryClient.setQueryData(agentQuery(workspace, agent.id).queryKey, restored);
      await announceChanges(queryClient, agentsKey(workspace.id));
      await navigate({ to: ".", search: {} });
      toast({
        tone: "success",
        title: `Version ${restored.version} is current`,
        description: `It is equal to version ${version}.`,
      });
    } catch (thrown) {
      // If someone else has saved since the agent was read, it is refetched, so that the next
      // attempt is based on the new version.
      if (isStale(thrown)) await announceChanges(queryClient, agentsKey(workspace.id));
      throw thrown;
    }
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`Restore version ${version}?`}
      effect={`This creates version ${agent.version + 1}, equal to version ${version}. Runs that start from then on use it; runs that have started keep their version. Secrets that version ${version} does not use are deleted, so versions in between that use them cannot be restored.`}
      confirmLabel={`Restore version ${version}`}
      pendingText="Restoring…"
      danger={false}
      onConfirm={restore}
    />
  );
}
