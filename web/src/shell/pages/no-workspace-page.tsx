import { useMe } from "../../data/index.ts";
import { MessagePage } from "../../ui/index.ts";
import { SignOutButton } from "./sign-out-button.tsx";

/** Shown to a person who is not a member of any workspace. */
export function NoWorkspacePage() {
  const { email } = useMe();
  return (
    <MessagePage title="You are in no workspace">
      <p>
        You are signed in as {email}. Ask an owner or admin of a workspace to invite you, then open
        their link.
      </p>
      <SignOutButton />
    </MessagePage>
  );
}
