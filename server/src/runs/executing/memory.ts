import { ByteBudget } from "../../base/byte-budget.ts";
import type { HeapGuard } from "../../base/heap-guard.ts";

/**
 * The memory budgets of one process, one for each purpose. A workspace can use only a part of each
 * budget, its share. See docs/decisions/0014-a-budget-of-bytes.md.
 */
export interface Memory {
  /** Budget for the memory of runs. */
  readonly runs: ByteBudget;
  /** Budget for large request bodies and responses. */
  readonly exchanges: ByteBudget;
  /**
   * Budget for the bytes of the request bodies that triggers with the settings `receiving` have
   * received. Their memory also counts against `exchanges`.
   */
  readonly bodies: ByteBudget;
  /** Budget for model output that is buffered for streams. */
  readonly outputs: ByteBudget;
  /** Budget for the data of large events while it is sent to subscriptions. */
  readonly deliveries: ByteBudget;
  readonly heap: HeapGuard;
}

/**
 * The fraction of the process's memory budget that each purpose gets. The first three add up to 1.
 * The fraction for `deliveries` is added to them, so that it makes none of them smaller.
 */
const shares = { runs: 10 / 16, exchanges: 5 / 16, outputs: 1 / 16, deliveries: 1 / 16 };

/** Maximum bytes of received bodies in one process, even if it has more memory: 256 MiB. */
const maxReceivedBytes = 268_435_456;

/**
 * Divides `bytes` into budgets. While the heap is full, the budgets `runs`, `exchanges` and
 * `deliveries` grant no more memory.
 * @param onFree called when there is memory again for runs that wait for it, either in this process
 *   or in the queue.
 */
export function shareMemory({
  bytes,
  heap,
  onFree,
}: {
  bytes: number;
  heap: HeapGuard;
  onFree: () => void;
}): Memory {
  const runs = new ByteBudget({ maxBytes: bytes * shares.runs, onServed: onFree });
  const exchanges = new ByteBudget({ maxBytes: bytes * shares.exchanges });
  const bodies = new ByteBudget({ maxBytes: maxReceivedBytes });
  const outputs = new ByteBudget({ maxBytes: bytes * shares.outputs });
  const deliveries = new ByteBudget({ maxBytes: bytes * shares.deliveries });
  heap.onChange((isFull) => {
    for (const budget of [runs, exchanges, deliveries]) budget.paused = isFull;
    if (!isFull) onFree();
  });
  return { runs, exchanges, bodies, outputs, deliveries, heap };
}
