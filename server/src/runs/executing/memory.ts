import { ByteBudget } from "../../base/byte-budget.ts";
import type { HeapGuard } from "../../base/heap-guard.ts";

/** The memory budgets of one process, by purpose: docs/decisions/0014-a-budget-of-bytes.md. */
export interface Memory {
  /** Bytes of runs, by workspace. */
  readonly runs: ByteBudget;
  /**
   * Bytes of large request bodies and responses, by workspace or, before that is known, by
   * credential or address.
   */
  readonly exchanges: ByteBudget;
  /** Bytes of model output that is buffered for streams, by workspace. */
  readonly outputs: ByteBudget;
  readonly heap: HeapGuard;
}

const shares = { runs: 10 / 16, exchanges: 5 / 16, outputs: 1 / 16 };

/**
 * Divides `bytes` into budgets. While the heap is full, `runs` and `exchanges` are paused.
 * @param onFree called when there is memory again for runs that wait for it, here or in the queue.
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
  const outputs = new ByteBudget({ maxBytes: bytes * shares.outputs });
  heap.onChange = (isFull) => {
    runs.paused = isFull;
    exchanges.paused = isFull;
    if (!isFull) onFree();
  };
  return { runs, exchanges, outputs, heap };
}
