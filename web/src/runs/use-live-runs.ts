import { useState } from "react";
import { useEvents } from "../live/index.ts";
import { addEvents, type LiveRuns } from "./live-runs.ts";

/** Returns what the stream says about the states of runs while the screen is shown. */
export function useLiveRuns(): LiveRuns {
  const [live, setLive] = useState<LiveRuns>(new Map());
  useEvents((events) => setLive((before) => addEvents(before, events)));
  return live;
}
