import { useState } from "react";
import { useAfterReset, useEvents } from "../live/index.ts";
import { addEvents, type LiveRuns, type ShownRun } from "./live-runs.ts";

const none: LiveRuns = new Map();

/**
 * Returns the events about the states of runs that arrive while the screen is shown.
 * @param shown the runs that the screen shows or is about to show, as they were read
 */
export function useLiveRuns(shown: readonly ShownRun[]): LiveRuns {
  const [live, setLive] = useState(none);
  useEvents((events) => setLive((before) => addEvents(before, events, shown)));
  // A reset (see `useResets`) can mean that the database was restored from a backup. Events from
  // before the restore no longer apply.
  useAfterReset(() => setLive(none));
  return live;
}
