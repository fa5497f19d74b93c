import { useSearch } from "@tanstack/react-router";
import { AccountSettings } from "../accounts/index.ts";
import { useWorkspace } from "../data/index.ts";
import { LinkTabs, PageHeader } from "../ui/index.ts";
import { WorkspaceSettings } from "./workspace-settings.tsx";

/** Settings of the workspace, and of the signed-in person. */
export function SettingsScreen() {
  const { id } = useWorkspace();
  const { tab }: { readonly tab?: string } = useSearch({ strict: false });
  const path = `/w/${id}/settings`;
  const isAccount = tab === "account";
  return (
    <div className="flex min-w-0 flex-col">
      <title>Settings · Beckon</title>
      <PageHeader
        title="Settings"
        tabs={
          <LinkTabs
            label="Settings"
            current={isAccount ? `${path}?tab=account` : path}
            tabs={[
              { label: "Workspace", href: path },
              { label: "Your account", href: `${path}?tab=account` },
            ]}
          />
        }
      />
      <div className="flex max-w-200 min-w-0 flex-col gap-6 p-4 md:p-6">
        {isAccount ? <AccountSettings /> : <WorkspaceSettings />}
      </div>
    </div>
  );
}
