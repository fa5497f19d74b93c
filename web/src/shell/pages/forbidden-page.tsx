import type { Scope } from "@beckon/contract";
import { roleFor } from "../../data/index.ts";
import { MessagePage } from "../../ui/index.ts";

/** Shown for a screen that the person has no permission to read. */
export function ForbiddenPage({ scope }: { readonly scope: Scope }) {
  return (
    <MessagePage title="You cannot open this page">
      <p>This page needs the role {roleFor(scope)}. Ask an owner of the workspace.</p>
    </MessagePage>
  );
}
