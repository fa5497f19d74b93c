import { useWorkspace } from "../../data/index.ts";
import { formatClock } from "../../format/index.ts";
import { useLiveStatus } from "../../live/index.ts";

/**
 * Returns the status of live updates in words, with the time of the last byte if they are
 * interrupted.
 */
export function useLiveText() {
  const { timeZone } = useWorkspace();
  const status = useLiveStatus();
  const { state, asOf } = status;
  const since = asOf === undefined ? "" : `as of ${formatClock(asOf, timeZone)}`;
  const words = {
    connecting: ["Connecting…", ""],
    live: ["Live", ""],
    reconnecting: ["Reconnecting…", since],
    "not live": ["Not live. Retry", since],
  } as const;
  const [text, detail] = words[state];
  return { ...status, text, detail };
}
