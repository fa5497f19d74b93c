/** Time for which runs that start together are collected, so that they appear together. */
const delayMs = 200;

/** Calls a function that reads data, not too often and not while the tab is hidden. */
export interface ReadSchedule {
  /**
   * Calls `read` soon; in a hidden tab, when `show` is called. Does nothing if a call is due
   * already, or after `stop`.
   * @param minIntervalMs minimum time since the last call
   */
  request(minIntervalMs: number, read: () => void): void;
  /** Makes up for the call that was requested while the tab was hidden. */
  show(): void;
  stop(): void;
  /** Makes requests possible again after `stop`. */
  start(): void;
  isStopped(): boolean;
}

/** Creates the schedule of one kind of reads. */
export function createReadSchedule(): ReadSchedule {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastReadMs = Number.NEGATIVE_INFINITY;
  /** Requests the call that is due when the tab is shown. */
  let due: (() => void) | undefined;
  let isStopped = false;
  const request = (minIntervalMs: number, read: () => void) => {
    if (timer !== undefined || isStopped) return;
    if (document.hidden) {
      due = () => request(minIntervalMs, read);
      return;
    }
    const waitMs = Math.max(delayMs, lastReadMs + minIntervalMs - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      if (document.hidden) return request(minIntervalMs, read);
      lastReadMs = performance.now();
      read();
    }, waitMs);
  };
  return {
    request,
    show() {
      if (document.hidden) return;
      const wanted = due;
      due = undefined;
      wanted?.();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      timer = undefined;
      due = undefined;
    },
    start() {
      isStopped = false;
    },
    isStopped: () => isStopped,
  };
}
