import { useLiveStatus } from "../../live/index.ts";
import { useAsOf } from "../../ui/index.ts";

/**
 * Returns the status of live updates in words. If they are interrupted, the words contain the time
 * at which the last byte of the stream arrived.
 */
export function useLiveText() {
  const status = useLiveStatus();
  const { state, asOf } = status;
  const time = useAsOf(asOf);
  const since = time && `as of ${time}`;
  const words = {
    connecting: ["Connecting…", ""],
    live: ["Live", ""],
    reconnecting: ["Reconnecting…", since],
    "not live": ["Not live. Retry", since],
  } as const;
  const [text, detail] = words[state];
  return { ...status, text, detail };
}
