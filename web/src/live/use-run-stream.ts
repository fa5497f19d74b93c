import type { WatchedEvent } from "@beckon/client";
import { useEffect, useEffectEvent, useState } from "react";
import { exactEvent } from "./exact-event.ts";
import { useLive } from "./live-provider.tsx";
import type { RunStreamState } from "./protocol.ts";

/**
 * Calls the handler with the events of one run, a batch before each frame: journal entries, each
 * once and in order, and the model's output while it is generated. After `run.output.start`,
 * discard earlier output of that step. Integers keep all their digits: see `parseExactly`.
 * @param runId undefined to watch nothing
 * @param after `seq` of the last journal entry that the screen has. It is read only when the hook
 *   subscribes to the run; later values are ignored.
 */
export function useRunStream(
  runId: string | undefined,
  handler: (events: readonly WatchedEvent[]) => void,
  after = 0,
): RunStreamState {
  const live = useLive();
  const handle = useEffectEvent(handler);
  const first = useEffectEvent(() => after);
  const [state, setState] = useState<RunStreamState>("connecting");
  useEffect(() => {
    if (runId === undefined) return;
    setState("connecting");
    return live?.watchRun(runId, {
      after: first(),
      handle: (events) => handle(events.map(exactEvent)),
      setState,
    });
  }, [live, runId]);
  return state;
}
