import { startTransition, useEffect, useEffectEvent, useRef, useSyncExternalStore } from "react";
import { useWorkspace } from "../data/index.ts";
import type { EventsHandler } from "./live.ts";
import { useLive, useResets } from "./live-provider.tsx";
import type { RunStart } from "./protocol.ts";
import type { LiveStatus } from "./status.ts";

const connecting: LiveStatus = { state: "connecting", asOf: undefined };

/** Returns the status of live updates, with a function that reconnects at once. */
export function useLiveStatus(): LiveStatus & { readonly retry: () => void } {
  const live = useLive();
  const status = useSyncExternalStore(
    (changed) => live?.onStatus(changed) ?? (() => {}),
    () => live?.status() ?? connecting,
  );
  return { ...status, retry: () => live?.retry() };
}

/**
 * Calls the handler with the events of the workspace, at most one batch every 300 ms. The handler
 * should compute new data with a pure function that tests can call, such as `addEvents` of
 * runs/live-runs.ts. React states that the handler sets are rendered in a transition, so that input
 * takes precedence.
 */
export function useEvents(handler: EventsHandler): void {
  const live = useLive();
  const handle = useEffectEvent(handler);
  useEffect(() => live?.onEvents((events) => startTransition(() => handle(events))), [live]);
}

/**
 * Calls the handler after each reset, when this tab may have missed events (see `useResets`). The
 * handler should discard what it has collected from events. Use this in components that must not be
 * remounted, because they also hold what a person has typed or chosen.
 */
export function useAfterReset(handler: () => void): void {
  const resets = useResets();
  const handled = useRef(resets);
  const handle = useEffectEvent(handler);
  useEffect(() => {
    if (handled.current === resets) return;
    handled.current = resets;
    handle();
  }, [resets]);
}

/**
 * Returns a function that starts a run with the agent's saved settings, and resolves to the run's
 * id. The response to the start is the run's stream, whose events wait until `useRunStream` reads
 * them. So the output of the first model call is complete, although the call begins before the page
 * has the run's id.
 */
export function useWatchedStart(): (run: Omit<RunStart, "startId">) => Promise<string> {
  const live = useLive();
  const { client } = useWorkspace();
  return async (run) => {
    if (live !== undefined) return live.startRun(run);
    const { agentId, input, idempotencyKey } = run;
    return (await client.agents.start(agentId, { input }, { idempotencyKey })).run_id;
  };
}
