import { useEffect, useEffectEvent, useState } from "react";
import { toServerTime } from "../../../data/index.ts";
import type { ModelOutput } from "../../model-output.ts";
import { type Journal, lastSeq } from "./entries.ts";

/**
 * The likely reason why the output of the current model call does not arrive. `late`: the call
 * began before the page subscribed. `elsewhere`: the page is connected to a process that does not
 * execute the run. The call can also wait for a limit: see `waitingForQuery`.
 */
export type Silence = "late" | "elsewhere";

/**
 * If the start of a model call has not arrived after this time, the page says why. The process that
 * executes a run sends the start at once, unless the call waits for a plan or ceiling.
 */
const maxSilenceMs = 2_000;

interface Watched {
  readonly isLive: boolean;
  readonly output: ModelOutput | undefined;
  readonly journal: Journal;
  /** Unix time of the server's clock in ms. */
  readonly now: number;
}

/**
 * Returns why the output of the current model call does not arrive; undefined while no reason is
 * known.
 */
export function useSilence({ isLive, output, journal, now }: Watched): Silence | undefined {
  const position = lastSeq(journal);
  const [since, setSince] = useState(now);
  const [joinedAt, setJoinedAt] = useState(position);
  const join = useEffectEvent(() => setJoinedAt(position));
  useEffect(() => {
    if (isLive) join();
  }, [isLive]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each journal entry starts a new wait
  useEffect(() => setSince(toServerTime()), [isLive, position]);
  if (!isLive || output !== undefined || now - since <= maxSilenceMs) return undefined;
  return position > joinedAt ? "elsewhere" : "late";
}
