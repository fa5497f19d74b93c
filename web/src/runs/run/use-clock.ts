import { useEffect, useState } from "react";

/**
 * Returns the current time in Unix ms, for durations that still grow on the page.
 * @param isRunning false stops the updates
 */
export function useClock(isRunning: boolean, everyMs = 250): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isRunning, everyMs]);
  return now;
}
