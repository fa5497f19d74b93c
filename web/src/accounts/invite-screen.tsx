import type { InvitationCheck, Me } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { account, sentOnce } from "../data/index.ts";
import { Banner, Button, Problem } from "../ui/index.ts";
import { AccountPage } from "./account-page.tsx";
import { JoinSignedIn } from "./join-signed-in.tsx";
import { JoinWithPassword } from "./join-with-password.tsx";
import { LinkCheck } from "./link-check.tsx";
import { signedInQuery } from "./signed-in.ts";

type Choice = "signed in" | "new account" | "own account";

/**
 * The page of an invitation. A person can join with a new account, with their existing account, or
 * with the account that is signed in.
 */
export function InviteScreen() {
  return (
    <LinkCheck
      title="Join a workspace"
      check={(token) => account.invitations.check({ token }, sentOnce)}
    >
      {(invitation, token) => <Invitation invitation={invitation} token={token} />}
    </LinkCheck>
  );
}

interface InvitationProps {
  readonly invitation: InvitationCheck;
  readonly token: string;
}

function Invitation({ invitation, token }: InvitationProps) {
  const [chosen, setChosen] = useState<Choice>();
  /** The person whom the page has named last as signed in. */
  const [named, setNamed] = useState<Me>();
  const signedIn = useQuery(signedInQuery);
  if (signedIn.data === undefined)
    return (
      <AccountPage title="Join a workspace">
        {signedIn.error === null ? null : (
          <Problem error={signedIn.error} onRetry={signedIn.refetch} />
        )}
      </AccountPage>
    );
  const me = signedIn.data ?? undefined;
  if (me !== undefined && me !== named) setNamed(me);
  // A person whose session ends has an account, and must not create a second one by mistake.
  const signedOut = me === undefined && chosen === undefined ? named : undefined;
  const choice = chosen ?? (me ? "signed in" : signedOut ? "own account" : "new account");
  const { workspace_name: workspace, inviter_name: inviter, role, email } = invitation;
  const { workspace_id: workspaceId } = invitation;
  return (
    <AccountPage
      title={`Join ${workspace}`}
      lead={`${inviter ?? "A key of the workspace"} invited ${email} as ${role}.`}
    >
      {signedOut === undefined ? null : (
        <Banner tone="warning">
          You are no longer signed in as {signedOut.email}. Join with the password of this account.
        </Banner>
      )}
      {choice === "signed in" && me !== undefined ? (
        <JoinSignedIn token={token} workspaceId={workspaceId} me={me} />
      ) : (
        <JoinWithPassword
          key={choice}
          token={token}
          workspaceId={workspaceId}
          email={signedOut?.email ?? email}
          isNew={choice === "new account"}
        />
      )}
      <div className="-mx-3 flex flex-col items-start">
        {choice === "new account" ? (
          <Button variant="quiet" onClick={() => setChosen("own account")}>
            I have an account already
          </Button>
        ) : (
          <Button variant="quiet" onClick={() => setChosen("new account")}>
            Create a new account instead
          </Button>
        )}
        {choice === "signed in" ? (
          <Button variant="quiet" onClick={() => setChosen("own account")}>
            Join with another account
          </Button>
        ) : null}
      </div>
    </AccountPage>
  );
}
