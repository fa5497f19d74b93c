import { createHook } from "node:async_hooks";

/**
 * Records every TCP connection attempt (one per address) and every query to the system's resolver
 * in this process. Node creates an async resource for each of them, so no code can bypass the
 * record.
 */
export function watchAttempts() {
  const attempts = { connections: 0, lookups: 0 };
  const hook = createHook({
    init(_id, type) {
      if (type === "TCPCONNECTWRAP") attempts.connections += 1;
      if (type === "GETADDRINFOREQWRAP") attempts.lookups += 1;
    },
  }).enable();
  return { attempts, stop: () => void hook.disable() };
}
