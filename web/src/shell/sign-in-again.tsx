import { useIsExpired } from "../data/index.ts";
import { createDeferred, useDeferred } from "../ui/index.ts";

const panel = createDeferred(async () => (await import("./sign-in-panel.tsx")).SignInPanel);

/** Shows the sign-in over the page if the session has expired. */
export function SignInAgain() {
  const isExpired = useIsExpired();
  const Panel = useDeferred(panel, isExpired);
  return isExpired && Panel !== undefined ? <Panel /> : null;
}
