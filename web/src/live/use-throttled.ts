import { useEffect, useRef, useState } from "react";

/**
 * Returns `call`, which starts `action` at once, then not before `intervalMs` after it has ended. A
 * call until then starts it when that time is over. So a slow action is neither repeated while it
 * runs, nor cancelled by its next start. `stop` drops a start that is due.
 * @param action starts something; its promise must not reject
 */
export function createThrottle(action: () => Promise<unknown>, intervalMs: number) {
  let isWaiting = false;
  let isDue = false;
  const call = () => {
    isDue = isWaiting;
    if (isWaiting) return;
    isWaiting = true;
    const end = () => {
      isWaiting = false;
      if (isDue) call();
    };
    void action().then(() => setTimeout(end, intervalMs));
  };
  return {
    call,
    stop() {
      isDue = false;
    },
  };
}

/** Returns `call` of `createThrottle`. When the component is unmounted, a due start is dropped. */
export function useThrottled(action: () => Promise<unknown>, intervalMs: number): () => void {
  const latest = useRef(action);
  useEffect(() => {
    latest.current = action;
  });
  const [{ call, stop }] = useState(() => createThrottle(() => latest.current(), intervalMs));
  useEffect(() => stop, [stop]);
  return call;
}
