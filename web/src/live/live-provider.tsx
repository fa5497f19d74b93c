import { type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { isNotFound, meQuery, useMe, useSession, useWorkspace } from "../data/index.ts";
import { whenIdle } from "../ui/index.ts";
import { connectHub } from "./connect.ts";
import { createLive, type Live } from "./live.ts";

const LiveContext = createContext<Live | undefined>(undefined);
const ResetsContext = createContext(0);

/**
 * Provides live updates to all screens of a workspace.
 *
 * When the stream has started, queries with `meta: { live: true }` are refetched: changes that
 * happened between the first read and the start of the stream are not in the stream.
 *
 * When the stream is live again after an interruption, for example a restart of the server, queries
 * that have failed are refetched.
 *
 * At a reset, for example because the tab fell behind the stream, all data of the workspace is read
 * again. Queries with `meta: { emptiedByReset: true }` are emptied first, because a refetch would
 * append to their cached data or return it unchanged. Other mounted queries are only refetched.
 * @param onReset called with the reason at each reset that has one (see `createLive`). After
 *   others, the data on the screen is as if no event had been missed: there is nothing to explain.
 */
export function LiveProvider({
  children,
  onReset,
}: {
  readonly children: ReactNode;
  readonly onReset: (reason: string) => void;
}) {
  const { id: workspaceId } = useWorkspace();
  const { id: userId } = useMe();
  const queryClient = useQueryClient();
  const session = useSession();
  const [live, setLive] = useState<Live>();
  const [resets, setResets] = useState(0);
  useEffect(() => {
    let created: Live | undefined;
    const refetch = (predicate: (query: Query) => boolean) =>
      void queryClient.invalidateQueries({ queryKey: [workspaceId], predicate });
    const start = () => {
      created = createLive({
        workspaceId,
        userId,
        connect: connectHub,
        onOpened: () => refetch(({ meta }) => meta?.live === true),
        onLiveAgain: () => refetch(({ state }) => state.status === "error"),
        onReset: (reason) => {
          void rereadAll(queryClient, workspaceId);
          setResets((before) => before + 1);
          if (reason !== undefined) onReset(reason);
        },
        checkSession: async () =>
          (await session.check()) && queryClient.getQueryData(meQuery.queryKey)?.id === userId,
      });
      setLive(created);
    };
    const cancel = whenIdle(start, maxWaitMs);
    // The hub removes all tabs when the session expires.
    const unsubscribe = session.subscribe(() => {
      if (!session.isExpired()) created?.retry();
    });
    return () => {
      cancel();
      unsubscribe();
      setLive(undefined);
      created?.close();
    };
  }, [workspaceId, userId, queryClient, session, onReset]);
  // React runs the effects of children before those of their parent. So all screens have registered
  // their handlers when this effect connects the tab.
  useEffect(() => live?.connect(), [live]);
  return (
    <LiveContext value={live}>
      <ResetsContext value={resets}>{children}</ResetsContext>
    </LiveContext>
  );
}

/**
 * Reads all data of a workspace again. Meanwhile, screens keep showing their earlier data. If they
 * were emptied, open forms and secrets that are shown only once would be lost.
 */
async function rereadAll(queryClient: QueryClient, workspaceId: string): Promise<void> {
  const queryKey = [workspaceId];
  queryClient.removeQueries({
    queryKey,
    predicate: (query) => query.getObserversCount() === 0,
  });
  void queryClient.resetQueries({
    queryKey,
    predicate: ({ meta }) => meta?.emptiedByReset === true,
  });
  await queryClient.invalidateQueries({ queryKey });
  // If a refetch fails, its query keeps the earlier data. But data that no longer exists (404) must
  // not stay visible.
  await queryClient.resetQueries({ queryKey, predicate: ({ state }) => isNotFound(state.error) });
}

/** Returns the live updates of this tab; undefined until they are created. */
export function useLive(): Live | undefined {
  return useContext(LiveContext);
}

/**
 * Returns the number of resets so far (see `LiveProvider`). After a reset, what a component has
 * collected from a stream can lack events, and no refetch of a query adds them. So the component
 * must discard what it has collected, for example with this number in its `key` or by
 * `useAfterReset`.
 */
export function useResets(): number {
  return useContext(ResetsContext);
}

/**
 * Maximum delay of the stream. The first paint takes precedence over it, but on a page that stays
 * busy the stream starts after this time.
 */
const maxWaitMs = 500;
