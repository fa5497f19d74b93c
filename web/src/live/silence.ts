/**
 * Time in ms without a message after which the SharedWorker counts as dead. The hub sends its
 * status at least every 20 seconds.
 */
const maxSilentMs = 60_000;

/**
 * Time in ms between two checks after which the page was suspended or its timers were throttled.
 * Messages may then wait in its queue, so the time without a message counts anew.
 */
const maxBetweenChecksMs = 20_000;

/**
 * Notices that messages no longer arrive. Nothing else shows that a SharedWorker has died: browsers
 * do not notify its tabs.
 * @param now returns a time in ms
 */
export function createSilence(now: () => number) {
  let silentSince = now();
  let checkedAt = silentSince;
  return {
    /** Counts the time without a message anew. Call it for each message. */
    restart() {
      silentSince = now();
    },
    /** Returns whether no message has arrived for 60 seconds. Call it every few seconds. */
    check(): boolean {
      const time = now();
      if (time - checkedAt > maxBetweenChecksMs) silentSince = time;
      checkedAt = time;
      return time - silentSince >= maxSilentMs;
    },
  };
}
