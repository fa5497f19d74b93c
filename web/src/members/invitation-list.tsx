import { useList, useWorkspace } from "../data/index.ts";
import { DataTable, Panel, Problem, useNow } from "../ui/index.ts";
import { invitationColumns, lacksIssuer } from "./invitation-columns.tsx";
import { invitationsQuery } from "./queries.ts";

/** Lists the open invitations. Renders nothing if there are none. */
export function InvitationList() {
  const now = useNow();
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
    <Panel
      title="Open invitations"
      description={
        invitations.rows.some((each) => lacksIssuer(each, now))
          ? "A link that is not valid no longer works: its issuer can no longer invite."
          : undefined
      }
      padding="none"
    >
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
