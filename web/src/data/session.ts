import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { account } from "./client.ts";
import { isUnauthorized } from "./errors.ts";
import { forgetWorkspace } from "./last-workspace.ts";
import { meQuery } from "./me.ts";
import { announceSignOut, onSignedOut } from "./tabs.ts";

/** The session of the person who is signed in. */
export interface SessionControl {
  /**
   * Ends the session on the server, then drops all data.
   * @throws BeckonError if the server did not confirm it: then the person is still signed in
   */
  signOut(): Promise<void>;
  /**
   * Drops all data if the session is no longer valid or is another person's. Call it after a 401.
   */
  check(): Promise<void>;
}

/**
 * Creates the control of the session.
 * @param leave opens the sign-in page. `next` leads back to the page that was shown.
 */
export function createSession(
  queryClient: QueryClient,
  leave: (options: { readonly next: boolean }) => void,
): SessionControl {
  let checking: Promise<void> | undefined;
  const drop = (options: { readonly next: boolean }) => {
    queryClient.clear();
    // Drafts of forms. They belong to the person.
    sessionStorage.clear();
    leave(options);
  };
  onSignedOut(() => drop({ next: false }));
  const check = async () => {
    const known = queryClient.getQueryData(meQuery.queryKey);
    // Nobody is signed in in this tab, for example on the page of a link that has expired.
    if (known === undefined) return;
    // Some calls are rejected with 401 because of a wrong password in their body. Or another person
    // has signed in in this browser, to whom nothing of this one's must show.
    const isSame = await account.me.get().then(
      ({ id }) => id === known.id,
      (thrown: unknown) => !isUnauthorized(thrown),
    );
    if (isSame) return;
    drop({ next: true });
  };
  return {
    async signOut() {
      await account.signOut();
      announceSignOut();
      forgetWorkspace();
      drop({ next: false });
    },
    check() {
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
  };
}

const SessionContext = createContext<SessionControl | undefined>(undefined);

/** Provides the control of the session. */
export const SessionProvider = SessionContext;

/** Returns the control of the session. @throws Error outside of `SessionProvider` */
export function useSession(): SessionControl {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("useSession: no SessionProvider is above");
  return session;
}
