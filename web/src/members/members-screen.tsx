import { useSearch } from "@tanstack/react-router";
import { UserPlus } from "lucide-react";
import { useList, useMe, useWorkspace } from "../data/index.ts";
import {
  AllowedDialog,
  Button,
  DataTable,
  EmptyState,
  lazyPart,
  PageHeader,
  useShowDialog,
} from "../ui/index.ts";
import { InvitationList } from "./invitation-list.tsx";
import { memberColumns } from "./member-columns.tsx";
import { membersQuery } from "./queries.ts";

const InviteDialog = lazyPart(async () => (await import("./invite-dialog.tsx")).InviteDialog);

/** The people of the workspace, and the invitations that are not accepted yet. */
export function MembersScreen() {
  const workspace = useWorkspace();
  const me = useMe();
  const members = useList(membersQuery(workspace));
  const { dialog }: { readonly dialog?: string } = useSearch({ strict: false });
  const show = useShowDialog();
  const disabledReason = workspace.whyNot("members:write");
  return (
    <div className="flex min-w-0 flex-col">
      <title>Members · Beckon</title>
      <PageHeader
        title="Members"
        actions={
          <Button
            variant="primary"
            icon={UserPlus}
            onClick={() => show({ dialog: "invite" })}
            disabledReason={disabledReason}
          >
            Invite
          </Button>
        }
      />
      <div className="flex min-w-0 flex-col gap-6 p-4 md:p-6">
        <div className="min-w-0 rounded-control border border-rule bg-sheet">
          <DataTable
            label="Members"
            columns={memberColumns(me.id)}
            rows={members.rows}
            rowKey={({ id }) => id}
            query={members}
            empty={<EmptyState>This workspace has no members.</EmptyState>}
          />
        </div>
        <InvitationList />
      </div>
      {dialog === "invite" ? (
        <AllowedDialog isAllowed={disabledReason === undefined}>
          <InviteDialog close={() => show({})} />
        </AllowedDialog>
      ) : null}
    </div>
  );
}
