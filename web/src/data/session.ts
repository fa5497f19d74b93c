import type { CallOptions } from "@beckon/client";
import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { clearToasts } from "../ui/index.ts";
import { account } from "./client.ts";
import { isOutcomeUnknown, isUnauthorized } from "./errors.ts";
import { forgetWorkspace } from "./last-workspace.ts";
import { meQuery } from "./me.ts";
import { announceSignOut, onSignedOut } from "./tabs.ts";

/** The session of the person who is signed in. */
export interface SessionControl {
  /**
   * Ends the session on the server, then deletes all data of the page.
   * @throws BeckonError if the session may still be valid, for example because the response was
   *   lost. A later `check` deletes all data if the session has ended after all.
   */
  signOut(): Promise<void>;
  /**
   * Deletes all data of the page if the session is no longer valid or belongs to another person.
   * If the session has expired, drafts of forms stay in the tab. Call it after a 401.
   * @returns whether the server has said that the same person is still signed in; false if the
   *   response was lost
   */
  check(): Promise<boolean>;
}

/**
 * Options of the request that checks the session after the response to a sign-out was lost. They
 * keep it short, because the person waits for the result of the sign-out. `timeout` is in ms.
 */
const briefly: CallOptions = { retries: 0, timeout: 5_000 };

/**
 * Creates the control of the session.
 * @param leave opens the sign-in page. If `next` is true, the sign-in leads back to the page that
 *   was shown.
 */
export function createSession(
  queryClient: QueryClient,
  leave: (options: { readonly next: boolean }) => void,
): SessionControl {
  let checking: Promise<boolean> | undefined;
  /** Whether a sign-out has no response yet. */
  let isSigningOut = false;
  /**
   * Unix time in ms at which the response to a sign-out was lost, so that the session may have
   * ended. Undefined if none was lost, or if it is known that the session has not ended.
   */
  let leftAt: number | undefined;
  /**
   * Returns whether a sign-out may have ended the session. A 401 then does not count as an expiry.
   * If `meQuery` has been read successfully since the sign-out, the session has not ended.
   */
  const isLeaving = () => {
    const readAt = queryClient.getQueryState(meQuery.queryKey)?.dataUpdatedAt ?? 0;
    return isSigningOut || (leftAt !== undefined && readAt <= leftAt);
  };
  // The session storage contains drafts of forms, which the next person must not see.
  const dropDrafts = () => sessionStorage.clear();
  const drop = (options: { readonly next: boolean }) => {
    queryClient.clear();
    clearToasts();
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
  const check = async (options: CallOptions = {}) => {
    const known = queryClient.getQueryData(meQuery.queryKey);
    // If there is no session in this tab, for example on the page of an expired link, nothing needs
    // to be deleted.
    if (known === undefined) return false;
    // A 401 does not always mean that the session has ended: some calls are rejected because of a
    // wrong password in their body. And if another person has signed in in this browser, they must
    // not see this person's data. The page therefore asks the server who is signed in.
    const beganAt = Date.now();
    let userId: string | undefined;
    try {
      userId = (await account.me.get(options)).id;
    } catch (thrown) {
      if (!isUnauthorized(thrown)) return false;
    }
    // The same person is signed in after the sign-out at `leftAt` failed, so that sign-out has not
    // ended the session. A request from before the sign-out would not prove it.
    if (userId === known.id && leftAt !== undefined && leftAt <= beganAt) leftAt = undefined;
    const isDropped = queryClient.getQueryData(meQuery.queryKey) === undefined;
    if (userId === known.id || isDropped) return !isDropped;
    if (userId === undefined && isLeaving()) finishSignOut();
    else {
      // If the session has expired, the drafts stay for the same person, who can sign in again.
      // `meQuery` deletes them if another person signs in.
      if (userId !== undefined) dropDrafts();
      drop({ next: true });
    }
    return false;
  };
  const checkOnce = () => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
    return checking;
  };
  return {
    async signOut() {
      isSigningOut = true;
      try {
        await account.signOut().finally(() => {
          isSigningOut = false;
        });
      } catch (thrown) {
        // After a 401, the session had ended already.
        if (!isUnauthorized(thrown)) {
          if (!isOutcomeUnknown(thrown)) throw thrown;
          leftAt = Date.now();
          await check(briefly);
          // If `check` has deleted this data, the session is over, so the sign-out has succeeded.
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
