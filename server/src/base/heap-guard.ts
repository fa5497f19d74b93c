import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { elapsed } from "./clock.ts";

/**
 * Detects that the heap is almost full while there is still time to reject work: V8 aborts a
 * process whose heap is full.
 */
export interface HeapGuard {
  /**
   * True if little memory is free even after a garbage collection. It becomes false again, without
   * a restart, when enough memory is free.
   */
  readonly isFull: boolean;
  /** Called when `isFull` has changed. */
  onChange: (isFull: boolean) => void;
  stop(): void;
}

/** Access to the heap. Replaced in tests, which cannot fill their heap. */
export interface Heap {
  readonly limitBytes: number;
  usedBytes(): number;
  /** Runs a full garbage collection. */
  collect(): Promise<void>;
}

/** Milliseconds between two samples. A sample takes two microseconds. */
const sampleMs = 250;
/**
 * Minimum milliseconds between two forced collections. Collecting a full heap stops the process for
 * a second or two.
 */
const collectMs = 10_000;
/**
 * Fractions of the heap limit. Above `fullAbove` a collection is forced, and the heap counts as
 * full if it is still above it. Below `freeBelow` it no longer counts as full.
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
      // The only way to run V8's collector without a command line flag: contexts that are created
      // after this call have `gc`.
      setFlagsFromString("--expose-gc");
      collect = runInNewContext("gc") as Collect;
      setFlagsFromString("--no-expose-gc");
    }
    return collect({ type: "major", execution: "async" });
  },
};
