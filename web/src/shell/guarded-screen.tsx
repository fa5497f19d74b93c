import { Outlet, useMatches } from "@tanstack/react-router";
import { useWorkspace } from "../data/index.ts";
import { ForbiddenPage } from "./pages/forbidden-page.tsx";

/**
 * Renders the screen of the route. If the person lacks the permission, renders a page that names
 * the role they need.
 */
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
