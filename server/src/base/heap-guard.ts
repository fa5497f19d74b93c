import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { elapsed } from "./clock.ts";

/**
 * Notices that the heap is almost full, while there is still time to refuse work: V8 ends a process
 * whose heap is full.
 */
export interface HeapGuard {
  /**
   * Little is left after a collection. It is false again as soon as there is more, without a
   * restart.
   */
  readonly isFull: boolean;
  /** Called when `isFull` has changed. */
  onChange: (isFull: boolean) => void;
  stop(): void;
}

/** The heap as the guard sees it; replaced in tests, which cannot fill theirs. */
export interface Heap {
  readonly limitBytes: number;
  usedBytes(): number;
  /** Collects all garbage. */
  collect(): Promise<void>;
}

/** Milliseconds between two samples; one costs two microseconds. */
const sampleMs = 250;
/**
 * Milliseconds between two collections that the guard asks for: one of a full heap stops the
 * process for a second or two.
 */
const collectMs = 10_000;
/**
 * Of the limit. Above the first the heap is collected, and is full if it is still above it; below
 * the second it is not any more.
 */
const fullAbove = 0.85;
const freeBelow = 0.75;

export function guardHeap(heap: Heap = v8Heap): HeapGuard {
  let isFull = false;
  let collecting = false;
  let collectedAt = -Infinity;

  const set = (value: boolean) => {
    if (isFull === value) return;
    isFull = value;
    guard.onChange(value);
  };
  const sample = async () => {
    const used = heap.usedBytes() / heap.limitBytes;
    if (used < freeBelow) return set(false);
    if (used < fullAbove && !isFull) return;
    if (collecting || elapsed() - collectedAt < collectMs) return;
    collecting = true;
    await heap.collect();
    collecting = false;
    collectedAt = elapsed();
    set(heap.usedBytes() / heap.limitBytes >= (isFull ? freeBelow : fullAbove));
  };
  const timer = setInterval(() => void sample(), sampleMs).unref();
  const guard = {
    get isFull() {
      return isFull;
    },
    onChange: (_isFull: boolean) => {},
    stop: () => clearInterval(timer),
  };
  return guard;
}

type Collect = (options: { type: "major"; execution: "async" }) => Promise<void>;
let collect: Collect | undefined;

const v8Heap: Heap = {
  limitBytes: getHeapStatistics().heap_size_limit,
  usedBytes: () => getHeapStatistics().used_heap_size,
  collect() {
    if (collect === undefined) {
      // The only way to V8's collector without a flag of the command line; a context made from now
      // on has it.
      setFlagsFromString("--expose-gc");
      collect = runInNewContext("gc") as Collect;
      setFlagsFromString("--no-expose-gc");
    }
    return collect({ type: "major", execution: "async" });
  },
};
