import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { account } from "./client.ts";
import { isOutcomeUnknown, isUnauthorized } from "./errors.ts";
import { forgetWorkspace } from "./last-workspace.ts";
import { meQuery } from "./me.ts";
import { announceSignOut, onSignedOut } from "./tabs.ts";

/** The session of the person who is signed in. */
export interface SessionControl {
  /**
   * Ends the session on the server, then deletes all data of the page.
   * @throws BeckonError if the session may still be valid. If it has ended without a response, a
   *   later `check` deletes all data.
   */
  signOut(): Promise<void>;
  /**
   * Deletes all data of the page if the session is no longer valid or belongs to another person.
   * If the session has expired, drafts of forms stay in the tab. Call it after a 401.
   */
  check(): Promise<void>;
}

/**
 * Creates the control of the session.
 * @param leave opens the sign-in page. If `next` is true, the sign-in leads back to the page that
 *   was shown.
 */
export function createSession(
  queryClient: QueryClient,
  leave: (options: { readonly next: boolean }) => void,
): SessionControl {
  let checking: Promise<void> | undefined;
  /**
   * Unix time in ms at which the person pressed Sign out; undefined if they have not, or if it is
   * known that the session has not ended.
   */
  let leftAt: number | undefined;
  /**
   * Returns whether the sign-out may have ended the session. A 401 then does not count as an
   * expiry. If the page has read the person since, the session has not ended.
   */
  const isLeaving = () => {
    const readAt = queryClient.getQueryState(meQuery.queryKey)?.dataUpdatedAt ?? 0;
    return leftAt !== undefined && readAt <= leftAt;
  };
  // The session storage contains drafts of forms, which the next person must not see.
  const dropDrafts = () => sessionStorage.clear();
  const drop = (options: { readonly next: boolean }) => {
    queryClient.clear();
    leave(options);
  };
  const dropAfterSignOut = () => {
    leftAt = undefined;
    dropDrafts();
    drop({ next: false });
  };
  onSignedOut(dropAfterSignOut);
  const finishSignOut = () => {
    announceSignOut();
    forgetWorkspace();
    dropAfterSignOut();
  };
  const check = async () => {
    const known = queryClient.getQueryData(meQuery.queryKey);
    // If there is no session in this tab, for example on the page of an expired link, nothing needs
    // to be deleted.
    if (known === undefined) return;
    // A 401 does not always mean that the session has ended: some calls are rejected because of a
    // wrong password in their body. And if another person has signed in in this browser, they must
    // not see this person's data. The page therefore asks the server who is signed in.
    const userId = await account.me.get().then(
      ({ id }) => {
        // The sign-out has not ended the session.
        if (id === known.id) leftAt = undefined;
        return id;
      },
      (thrown: unknown) => (isUnauthorized(thrown) ? undefined : known.id),
    );
    if (userId === known.id) return;
    if (userId === undefined && isLeaving()) return finishSignOut();
    // If the session has expired, the drafts stay for the same person, who can sign in again.
    // `meQuery` deletes them if another person signs in.
    if (userId !== undefined) dropDrafts();
    drop({ next: true });
  };
  const checkOnce = () => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
    return checking;
  };
  return {
    async signOut() {
      leftAt = Date.now();
      try {
        await account.signOut();
      } catch (thrown) {
        // After a 401, the session had ended already.
        if (!isUnauthorized(thrown)) {
          if (isOutcomeUnknown(thrown)) await checkOnce();
          else leftAt = undefined;
          // A check, this one or an earlier one, has found the end and deleted all data.
          if (queryClient.getQueryData(meQuery.queryKey) === undefined) return;
          throw thrown;
        }
      }
      finishSignOut();
    },
    check: checkOnce,
  };
}

const SessionContext = createContext<SessionControl | undefined>(undefined);

/** Provides the `SessionControl` to all components below. */
export const SessionProvider = SessionContext;

/** Returns the `SessionControl`. @throws Error outside of `SessionProvider` */
export function useSession(): SessionControl {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("useSession: no SessionProvider is above");
  return session;
}
