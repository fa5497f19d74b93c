import { useEffect, useEffectEvent, useState } from "react";
import { type Journal, lastSeq, type ModelOutput } from "./live.ts";

/**
 * Why nothing of the model's current output arrives. `late`: the call began before the page
 * subscribed. `elsewhere`: another process than the one that the page is connected to makes it.
 */
export type Silence = "late" | "elsewhere";

/** The process that executes a run sends the start of each model call at once. */
const maxSilenceMs = 2_000;

interface Watched {
  readonly isLive: boolean;
  readonly output: ModelOutput | undefined;
  readonly journal: Journal;
  /** Unix time in ms. */
  readonly now: number;
}

/** Returns why the current model call is silent; undefined while that is not known. */
export function useSilence({ isLive, output, journal, now }: Watched): Silence | undefined {
  const position = lastSeq(journal);
  const [since, setSince] = useState(now);
  const [joinedAt, setJoinedAt] = useState(position);
  const join = useEffectEvent(() => setJoinedAt(position));
  useEffect(() => {
    if (isLive) join();
  }, [isLive]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each journal entry starts a new wait
  useEffect(() => setSince(Date.now()), [isLive, position]);
  if (!isLive || output !== undefined || now - since <= maxSilenceMs) return undefined;
  return position > joinedAt ? "elsewhere" : "late";
}
