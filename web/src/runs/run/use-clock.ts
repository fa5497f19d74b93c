import { useEffect, useState } from "react";
import { toServerTime } from "../../data/index.ts";

/** Time between two updates, in milliseconds. */
const tickMs = 250;

/**
 * Returns the current time of the server's clock in Unix ms, for durations that still grow on the
 * page.
 * @param isRunning false stops the updates
 */
export function useClock(isRunning: boolean): number {
  const [now, setNow] = useState(() => toServerTime());
  useEffect(() => {
    if (!isRunning) return;
    setNow(toServerTime());
    const timer = setInterval(() => setNow(toServerTime()), tickMs);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
