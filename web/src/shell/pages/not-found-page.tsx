import { Link, MessagePage } from "../../ui/index.ts";

/** Shown for an unknown URL, and for a workspace of which the person is not a member. */
export function NotFoundPage() {
  return (
    <MessagePage title="There is nothing here">
      <p>
        The address is wrong, what it shows was deleted, or you are not a member of the workspace.
      </p>
      <Link href="/">Open your workspace</Link>
    </MessagePage>
  );
}
