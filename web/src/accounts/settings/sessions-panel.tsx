import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { account, announceChanges, useList } from "../../data/index.ts";
import {
  Button,
  ConfirmDialog,
  List,
  LoadMore,
  Panel,
  RowsProblem,
  Skeleton,
  useToast,
} from "../../ui/index.ts";
import { sessionsKey, sessionsQuery } from "./queries.ts";
import { SessionRow } from "./session-row.tsx";

/** The sessions of the person, one for each browser. */
export function SessionsPanel() {
  const sessions = useList(sessionsQuery);
  const queryClient = useQueryClient();
  const toast = useToast();
  const [asks, setAsks] = useState(false);
  const endOthers = async () => {
    await account.sessions.revokeOther();
    toast({ tone: "success", title: "All other sessions have ended." });
    await announceChanges(queryClient, sessionsKey);
  };
  return (
    <Panel
      title="Sessions"
      padding="none"
      actions={
        sessions.rows.length < 2 ? undefined : (
          <Button onClick={() => setAsks(true)}>Sign out all others</Button>
        )
      }
    >
      <RowsProblem label="Sessions" query={sessions} hasRows={sessions.rows.length > 0} />
      {sessions.isPending ? (
        <div className="flex min-h-row flex-col justify-center px-4 py-1.5" aria-busy="true">
          <Skeleton width={40} />
          <Skeleton width={60} />
        </div>
      ) : (
        <List label="Sessions">
          {sessions.rows.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </List>
      )}
      <LoadMore query={sessions} />
      <ConfirmDialog
        open={asks}
        onOpenChange={setAsks}
        title="Sign out all other sessions?"
        effect="Your other browsers and devices must sign in again. This one stays signed in."
        confirmLabel="Sign out others"
        pendingText="Signing out…"
        onConfirm={endOthers}
      />
    </Panel>
  );
}
