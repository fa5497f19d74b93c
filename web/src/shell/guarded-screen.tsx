import { Outlet, useMatches } from "@tanstack/react-router";
import { useWorkspace } from "../data/index.ts";
import { ForbiddenPage } from "./pages/forbidden-page.tsx";

/** The screen of the route, or the page that says which role it needs. */
export function GuardedScreen() {
  const { can } = useWorkspace();
  const missing = useMatches({
    select: (matches) =>
      matches
        .map(({ staticData }) => staticData.scope)
        .find((scope) => scope !== undefined && !can(scope)),
  });
  return missing === undefined ? <Outlet /> : <ForbiddenPage scope={missing} />;
}
