import type { CallOptions, Me, SignInBody } from "@beckon/client";
import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext, useSyncExternalStore } from "react";
import { clearToasts, createSubscribers, isEqual } from "../ui/index.ts";
import { account, endCalls, sentOnce } from "./client.ts";
import { firstCallError, isOutcomeUnknown, isUnauthorized } from "./errors.ts";
import { type Membership, meQuery } from "./me.ts";
import { forgetWorkspace } from "./storage/last-workspace.ts";
import { forgetAllKept } from "./storage/tab-storage.ts";
import { announceSignIn, announceSignOut, onSignedIn, onSignedOut } from "./tabs.ts";

/** The session of the person who is signed in. */
export interface SessionControl {
  /**
   * Ends the session on the server, then deletes all data of the page.
   * @throws BeckonError if the session may still be valid, for example because the response was
   *   lost. A later `check` deletes all data if the session has ended after all.
   */
  signOut(): Promise<void>;
  /**
   * Asks the server who is signed in. If another person is, all data of the page is deleted. If
   * nobody is, the session has expired: the page stays as it is until the person signs in again.
   * Call it after a 401.
   * @returns whether the server has said that the same person is still signed in; false if the
   *   response was lost
   */
  check(): Promise<boolean>;
  /**
   * Signs in after the session has expired. The page continues if the same person signs in and can
   * still see it. Otherwise all its data is deleted, and it is opened anew.
   * @throws BeckonError if the sign-in failed
   */
  signIn(body: SignInBody): Promise<void>;
  /** Returns whether the session has expired while the page was open. */
  isExpired(): boolean;
  /**
   * Calls the function after each change of `isExpired`. Returns the function that unsubscribes it.
   */
  subscribe(changed: () => void): () => void;
}

/** The page that is open. */
export interface OpenPage {
  /**
   * Opens the sign-in page. If `next` is true, the sign-in leads back to the page that was open.
   * Resolves when the sign-in page is shown.
   */
  readonly leave: (options: { readonly next: boolean }) => Promise<void> | void;
  /** Returns false for pages that are also shown if nobody is signed in. */
  readonly needsSession: () => boolean;
  /** Returns whether the page belongs to no workspace, or to one of the person's. */
  readonly isVisibleTo: (me: Me) => boolean;
}

/**
 * Options of the request that checks the session after the response to a sign-out was lost. They
 * keep it short, because the person waits for the result of the sign-out. `timeout` is in ms.
 */
const briefly: CallOptions = { retries: 0, timeout: 5_000 };

/** Creates the control of the session. */
export function createSession(queryClient: QueryClient, page: OpenPage): SessionControl {
  let checking: Promise<boolean> | undefined;
  let isExpired = false;
  /** Number of times that the person has signed in again. */
  let renewals = 0;
  /** Number of times that all data was deleted. */
  let drops = 0;
  const { subscribe, notify } = createSubscribers();
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
  const setExpired = (next: boolean) => {
    if (next === isExpired) return;
    isExpired = next;
    notify();
  };
  const drop = async (options: { readonly next: boolean }) => {
    drops += 1;
    endCalls();
    queryClient.clear();
    clearToasts();
    await page.leave(options);
    // Until here, the sign-in hides a page that may be that of another person.
    setExpired(false);
  };
  const dropAfterSignOut = () => {
    leftAt = undefined;
    // The next person must not see drafts of forms.
    forgetAllKept();
    void drop({ next: false });
  };
  onSignedOut(dropAfterSignOut);
  const finishSignOut = () => {
    announceSignOut();
    forgetWorkspace();
    dropAfterSignOut();
  };
  /**
   * Keeps the page if the person who is signed in is the one whose data it shows, else drops it.
   * Returns whether the page was kept.
   */
  const accept = (known: Me, me: Me): boolean => {
    if (me.id === known.id && !isExpired) {
      // For example, the person has left a workspace by a call whose response was lost.
      if (!isEqual(me, known)) void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
      return true;
    }
    if (me.id === known.id && page.isVisibleTo(me)) {
      renewals += 1;
      // A check that is under way can still get the 401 of the expired session.
      checking = undefined;
      queryClient.setQueryData(meQuery.queryKey, me as typeof known & { workspaces: Membership[] });
      setExpired(false);
      void queryClient.invalidateQueries();
      return true;
    }
    // If the same person has no access any more, their drafts stay. They contain nothing that other
    // people have written.
    if (me.id !== known.id) forgetAllKept();
    void drop({ next: true });
    return false;
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
    const before = renewals;
    let me: Me | undefined;
    try {
      me = await account.me.get(options);
    } catch (thrown) {
      if (!isUnauthorized(thrown)) return false;
    }
    // The same person is signed in after the sign-out at `leftAt` failed, so that sign-out has not
    // ended the session. A request from before the sign-out would not prove it.
    if (me?.id === known.id && leftAt !== undefined && leftAt <= beganAt) leftAt = undefined;
    if (queryClient.getQueryData(meQuery.queryKey) === undefined) return false;
    if (me !== undefined) return accept(known, me);
    if (before !== renewals) return true;
    if (isLeaving()) finishSignOut();
    else if (page.needsSession()) setExpired(true);
    else void drop({ next: true });
    return false;
  };
  const checkOnce = () => {
    if (checking !== undefined) return checking;
    const started = check().finally(() => {
      if (checking === started) checking = undefined;
    });
    checking = started;
    return started;
  };
  onSignedIn(() => void checkOnce());
  return {
    async signOut() {
      isSigningOut = true;
      const before = drops;
      try {
        await account.signOut().finally(() => {
          isSigningOut = false;
        });
      } catch (thrown) {
        // A check has noticed the end of the session first.
        if (before !== drops) return;
        // After a 401, the session had ended already.
        if (!isUnauthorized(thrown)) {
          if (!isOutcomeUnknown(thrown)) throw thrown;
          leftAt = Date.now();
          await check(briefly);
          // If `check` has deleted all data, the session is over, so the sign-out has succeeded.
          if (before !== drops) return;
          throw thrown;
        }
      }
      finishSignOut();
    },
    check: checkOnce,
    async signIn(body) {
      await account.signIn(body, sentOnce);
      announceSignIn();
      const me = await account.me.get().catch((thrown: unknown) => {
        throw firstCallError(thrown);
      });
      const known = queryClient.getQueryData(meQuery.queryKey);
      // Another tab's sign-in can have been noticed first.
      if (isExpired && known !== undefined) accept(known, me);
    },
    isExpired: () => isExpired,
    subscribe,
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

/** Returns whether the session has expired while the page was open. */
export function useIsExpired(): boolean {
  const { subscribe, isExpired } = useSession();
  return useSyncExternalStore(subscribe, isExpired);
}
