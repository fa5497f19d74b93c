import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { isNotFound, useMe, useSession, useWorkspace } from "../data/index.ts";
import { whenIdle } from "../ui/index.ts";
import { createLive, type Live } from "./live.ts";

const LiveContext = createContext<Live | undefined>(undefined);
const ResetsContext = createContext(0);

/**
 * Provides live updates to all screens of a workspace.
 *
 * When the stream has started, queries with `meta: { live: true }` are refetched: changes that
 * happened between the first read and the start of the stream are not in the stream.
 *
 * After a reset, queries with `meta: { emptiedByReset: true }` are emptied: a refetch would append
 * to the data that they have, or return it. Other mounted queries are refetched.
 * @param onReset called with the reason when all data of the workspace is read again
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
    const start = () => {
      created = createLive({
        workspaceId,
        userId,
        onOpened: () =>
          void queryClient.invalidateQueries({
            queryKey: [workspaceId],
            predicate: ({ meta }) => meta?.live === true,
          }),
        onReset: (reason) => {
          void rereadAll(queryClient, workspaceId);
          setResets((before) => before + 1);
          onReset(reason);
        },
        onSignedOut: () => void session.check(),
      });
      setLive(created);
    };
    const cancel = whenIdle(start, maxWaitMs);
    return () => {
      cancel();
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
 * Reads all data of a workspace again. Screens show what they have until then, because forms and
 * secrets that are shown once would be lost with the screen below them.
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
  // Screens keep their data if it cannot be refetched. What no longer exists must not be shown.
  await queryClient.resetQueries({ queryKey, predicate: ({ state }) => isNotFound(state.error) });
}

/** Returns the live updates of this tab; undefined until they are created. */
export function useLive(): Live | undefined {
  return useContext(LiveContext);
}

/**
 * Returns how often all data was read again. What a component has collected from a stream can then
 * lack events, and is no query that is read again, so the component must begin anew.
 */
export function useResets(): number {
  return useContext(ResetsContext);
}

/**
 * Maximum delay of the stream. The first paint takes precedence over it, but on a page that stays
 * busy the stream starts after this time.
 */
const maxWaitMs = 500;
