import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { useMe, useSession, useWorkspace } from "../data/index.ts";
import { whenIdle } from "../ui/index.ts";
import { createLive, type Live } from "./live.ts";

const LiveContext = createContext<Live | undefined>(undefined);

/**
 * Provides live updates to all screens of a workspace.
 *
 * When the stream has started, queries with `meta: { live: true }` are refetched: changes that
 * happened between the first read and the start of the stream are not in the stream.
 * @param onReset called with the reason after all cached data of the workspace was reset
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
          void queryClient.resetQueries({ queryKey: [workspaceId] });
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
  // This effect runs after the effects of all screens. So their handlers are registered when the
  // first events arrive.
  useEffect(() => live?.connect(), [live]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** Returns the live updates of this tab; undefined until they are created. */
export function useLive(): Live | undefined {
  return useContext(LiveContext);
}

/**
 * Maximum delay of the stream. The first paint takes precedence over it, but on a page that stays
 * busy the stream starts after this time.
 */
const maxWaitMs = 500;
