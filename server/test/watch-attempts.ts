import { createHook } from "node:async_hooks";

/**
 * Counts what this process tries, whoever tries it: TCP connections (one for every address) and questions to the system's
 * resolver. Node makes one object for each, which no code of ours can go around.
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
