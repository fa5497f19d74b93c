import { useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useMe } from "../data/index.ts";
import { Button, Panel, useShowDialog } from "../ui/index.ts";
import { creatingWorkspace } from "./default-workspace.ts";
import { NewWorkspaceDialog } from "./new-workspace-dialog.tsx";
import { WorkspaceForm } from "./workspace-form.tsx";

/**
 * The settings of the workspace. Owners of the workspace `default` can also create workspaces here.
 */
export function WorkspaceSettings() {
  const from = creatingWorkspace(useMe().workspaces);
  const { dialog }: { readonly dialog?: string } = useSearch({ strict: false });
  const show = useShowDialog();
  return (
    <>
      <Panel title="This workspace" padding="none">
        <WorkspaceForm />
      </Panel>
      {from === undefined ? null : (
        <Panel
          title="More workspaces"
          actions={
            <Button icon={Plus} onClick={() => show({ dialog: "new" })}>
              New workspace
            </Button>
          }
        >
          <p className="text-ink-2">
            A workspace separates teams or customers: its agents, keys, members and runs are seen by
            its own members only.
          </p>
        </Panel>
      )}
      {dialog === "new" && from !== undefined ? (
        <NewWorkspaceDialog from={from} close={() => show({})} />
      ) : null}
    </>
  );
}
