import { useList, useWorkspace } from "../data/index.ts";
import { DataTable, Panel, Problem } from "../ui/index.ts";
import { invitationColumns } from "./invitation-columns.tsx";
import { invitationsQuery } from "./queries.ts";

/** Lists the open invitations. Renders nothing if there are none. */
export function InvitationList() {
  const invitations = useList(invitationsQuery(useWorkspace()));
  if (invitations.isError && invitations.rows.length === 0)
    return (
      <Problem
        error={invitations.error}
        title="Open invitations could not be loaded."
        onRetry={invitations.refetch}
      />
    );
  if (invitations.rows.length === 0) return null;
  return (
    <Panel title="Open invitations" padding="none">
      <DataTable
        label="Open invitations"
        columns={invitationColumns}
        rows={invitations.rows}
        rowKey={({ id }) => id}
        query={invitations}
        empty={null}
      />
    </Panel>
  );
}
