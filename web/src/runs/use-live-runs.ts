import { useState } from "react";
import { useEvents } from "../live/index.ts";
import { addEvents, type LiveRuns } from "./live-runs.ts";

/** Returns the events about the states of runs that arrive while the screen is shown. */
export function useLiveRuns(): LiveRuns {
  const [live, setLive] = useState<LiveRuns>(new Map());
  useEvents((events) => setLive((before) => addEvents(before, events)));
  return live;
}
