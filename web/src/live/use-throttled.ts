import { useEffect, useRef } from "react";

/**
 * Returns a function that calls `action` at once and then at most once in `intervalMs`, however
 * often it is called. If it is called during the interval, `action` follows when the interval ends.
 */
export function useThrottled(action: () => void, intervalMs: number): () => void {
  const latest = useRef(action);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isDue = useRef(false);
  useEffect(() => {
    latest.current = action;
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  const run = () => {
    isDue.current = false;
    latest.current();
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (isDue.current) run();
    }, intervalMs);
  };
  return () => {
    if (timer.current === undefined) run();
    else isDue.current = true;
  };
}
