import { useWorkspace } from "../../data/index.ts";
import { formatClock } from "../../format/index.ts";
import { useLiveStatus } from "../../live/index.ts";

/**
 * Returns the status of live updates in words. If they are interrupted, the words contain the time
 * at which the last byte of the stream arrived.
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
