import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { elapsed } from "./clock.ts";
import { LateListener } from "./listener/index.ts";

/**
 * Detects that the heap is almost full. V8 aborts a process whose heap is full, so the process must
 * reject new work before that.
 */
export interface HeapGuard {
  /**
   * True if the heap is almost full even after a garbage collection. Becomes false again, without a
   * restart, when enough memory is free.
   */
  readonly isFull: boolean;
  /** Registers the one listener that is called when `isFull` has changed. */
  onChange(listener: (isFull: boolean) => void): void;
  stop(): void;
}

/** Access to the heap. Replaced in tests, which cannot fill their heap. */
export interface Heap {
  readonly limitBytes: number;
  usedBytes(): number;
  /** Runs a full garbage collection. */
  collect(): Promise<void>;
}

/** Time between two measurements of the heap. A measurement takes two microseconds. */
const sampleMs = 250;
/**
 * Minimum time between two forced garbage collections. Collecting a full heap stops the process for
 * one or two seconds.
 */
const collectMs = 10_000;
/**
 * Fractions of the heap limit. If more than `fullAbove` is used, a garbage collection is forced. If
 * more than `fullAbove` is still used afterwards, the heap counts as full, until less than
 * `freeBelow` is used.
 */
const fullAbove = 0.85;
const freeBelow = 0.75;

/** Measures the heap every 250 ms, until `stop` of the returned guard is called. */
export function guardHeap(heap: Heap = v8Heap): HeapGuard {
  let isFull = false;
  let collecting = false;
  let collectedAt = -Infinity;
  const changes = new LateListener<[isFull: boolean]>();

  const set = (value: boolean) => {
    if (isFull === value) return;
    isFull = value;
    changes.call(value);
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
  return {
    get isFull() {
      return isFull;
    },
    onChange: changes.register,
    stop: () => clearInterval(timer),
  };
}

type Collect = (options: { type: "major"; execution: "async" }) => Promise<void>;
let collect: Collect | undefined;

const v8Heap: Heap = {
  limitBytes: getHeapStatistics().heap_size_limit,
  usedBytes: () => getHeapStatistics().used_heap_size,
  collect() {
    if (collect === undefined) {
      // Node has no API for a garbage collection. Contexts that are created after this call have
      // the function `gc`, so no command line flag is needed.
      setFlagsFromString("--expose-gc");
      collect = runInNewContext("gc") as Collect;
      setFlagsFromString("--no-expose-gc");
    }
    return collect({ type: "major", execution: "async" });
  },
};
