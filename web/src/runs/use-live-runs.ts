import { useState } from "react";
import { useAfterReset, useEvents } from "../live/index.ts";
import { addEvents, type LiveRuns } from "./live-runs.ts";

const none: LiveRuns = new Map();

/** Returns the events about the states of runs that arrive while the screen is shown. */
export function useLiveRuns(): LiveRuns {
  const [live, setLive] = useState(none);
  useEvents((events) => setLive((before) => addEvents(before, events)));
  // A reset (see `useResets`) can mean that the database was restored from a backup. Events from
  // before the restore no longer apply.
  useAfterReset(() => setLive(none));
  return live;
}
