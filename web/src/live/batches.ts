/**
 * Maximum number of items that wait for their delivery. A tab that is hidden after it has requested
 * a frame gets none until it is shown again. Without this limit, its items would use ever more
 * memory.
 */
const maxWaiting = 5_000;

/** Collects items and passes them on together. */
export interface Batches<Item> {
  add(item: Item): void;
  clear(): void;
}

/**
 * Creates a collector that delivers all items of a short time together, so that many events cause
 * one rendering.
 * @param schedule calls its argument when the items are to be delivered: `beforeNextFrame`, or less
 *   often what `createSlowSchedule` returns
 * @param deliver gets the items in order
 * @param overflow called instead of `deliver` after more than 5,000 items have waited. These items
 *   were dropped, so the page must refetch its data.
 */
export function createBatches<Item>(
  schedule: (flush: () => void) => void,
  deliver: (items: readonly Item[]) => void,
  overflow: () => void,
): Batches<Item> {
  let waiting: Item[] = [];
  let isScheduled = false;
  let hasOverflowed = false;
  const flush = () => {
    isScheduled = false;
    const items = waiting;
    waiting = [];
    if (hasOverflowed) {
      hasOverflowed = false;
      overflow();
    } else if (items.length > 0) deliver(items);
  };
  return {
    add(item) {
      if (waiting.length === maxWaiting) {
        waiting = [];
        hasOverflowed = true;
      }
      if (!hasOverflowed) waiting.push(item);
      if (isScheduled) return;
      isScheduled = true;
      schedule(flush);
    },
    clear() {
      waiting = [];
      hasOverflowed = false;
    },
  };
}

/** Calls the function before the next frame; in a hidden tab, which gets no frames, after 1 s. */
export function beforeNextFrame(flush: () => void): void {
  if (document.hidden) setTimeout(flush, 1_000);
  else requestAnimationFrame(flush);
}

/**
 * Minimum time in ms between two batches of a workspace's events. People could not read more
 * frequent updates.
 */
const minIntervalMs = 300;

/**
 * Returns a function that calls its argument before the next frame, but not earlier than 300 ms
 * after it has called the previous argument. So a busy workspace does not cause a rendering in each
 * frame.
 */
export function createSlowSchedule(): (flush: () => void) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (flush) => {
    const deliver = () => {
      last = performance.now();
      flush();
    };
    const waitMs = last + minIntervalMs - performance.now();
    if (waitMs <= 0) beforeNextFrame(deliver);
    else setTimeout(() => beforeNextFrame(deliver), waitMs);
  };
}
