import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { isOutdated } from "./errors.ts";

/** A message from a tab or SharedWorker (live/worker.ts) to all others. */
type TabNews =
  | { readonly type: "changed"; readonly queryKeys: readonly QueryKey[] }
  | { readonly type: "signed in" }
  | { readonly type: "signed out" }
  | { readonly type: "worker started" };

const channel = new BroadcastChannel("beckon");

const onNews = (receive: (news: TabNews) => void) =>
  channel.addEventListener("message", ({ data }: MessageEvent<TabNews>) => receive(data));

/**
 * Makes this tab and all others refetch data after a change.
 * @param queryKeys beginnings of the keys of all queries that the change affects
 */
export async function announceChanges(
  queryClient: QueryClient,
  ...queryKeys: readonly QueryKey[]
): Promise<void> {
  channel.postMessage({ type: "changed", queryKeys } satisfies TabNews);
  await Promise.all(queryKeys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

/**
 * Announces the changes of a failed call if its error says that the cached data can be outdated.
 * Without this, a form that is opened again begins with the same old data and fails again. The
 * other parameters are those of `announceChanges`.
 */
export async function announceIfOutdated(
  queryClient: QueryClient,
  thrown: unknown,
  ...queryKeys: readonly QueryKey[]
): Promise<void> {
  if (isOutdated(thrown)) await announceChanges(queryClient, ...queryKeys);
}

/** From this call on, refetches data when another tab has changed it. */
export function followChanges(queryClient: QueryClient): void {
  onNews((news) => {
    if (news.type !== "changed") return;
    for (const queryKey of news.queryKeys) void queryClient.invalidateQueries({ queryKey });
  });
}

/** Notifies all other tabs that a person has signed in in this browser. */
export function announceSignIn(): void {
  channel.postMessage({ type: "signed in" } satisfies TabNews);
}

/** Calls the function when another tab reports that a person has signed in. */
export function onSignedIn(check: () => void): void {
  onNews(({ type }) => {
    if (type === "signed in") check();
  });
}

/** Notifies all other tabs and the SharedWorker that the session has ended. */
export function announceSignOut(): void {
  channel.postMessage({ type: "signed out" } satisfies TabNews);
}

/** Calls the function when another tab reports that the session has ended. */
export function onSignedOut(leave: () => void): void {
  onNews(({ type }) => {
    if (type === "signed out") leave();
  });
}

/** Notifies all other SharedWorkers, which are of other builds, that this one has started. */
export function announceWorker(): void {
  channel.postMessage({ type: "worker started" } satisfies TabNews);
}

/** Calls the function when the SharedWorker of another build has started. */
export function onOtherWorker(shrink: () => void): void {
  onNews(({ type }) => {
    if (type === "worker started") shrink();
  });
}
