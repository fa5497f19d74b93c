import type { WatchedEvent } from "@beckon/client";
import { useEffect, useEffectEvent } from "react";
import { type RunStreamState, useRunStream } from "../../../live/index.ts";

interface RunStreamProps {
  readonly runId: string;
  /** `seq` of the last journal entry that the page has. */
  readonly after: number;
  readonly onEvents: (events: readonly WatchedEvent[]) => void;
  readonly onState: (state: RunStreamState) => void;
}

/** Subscribes to a run while this component is mounted. With a new `key`, it subscribes again. */
export function RunStream({ runId, after, onEvents, onState }: RunStreamProps) {
  const state = useRunStream(runId, onEvents, after);
  const report = useEffectEvent(onState);
  useEffect(() => report(state), [state]);
  return null;
}
