import { ByteBudget } from "../../base/byte-budget.ts";
import type { HeapGuard } from "../../base/heap-guard.ts";

/** The memory of one process, shared out by purpose: docs/decisions/0014-a-budget-of-bytes.md. */
export interface Memory {
  /** Bytes that runs hold, by workspace. */
  readonly runs: ByteBudget;
  /**
   * Bytes of large request bodies and responses, by workspace or, before that is known, by
   * credential or address.
   */
  readonly exchanges: ByteBudget;
  /** Bytes of model output that readers of streams have not taken yet, by workspace. */
  readonly outputs: ByteBudget;
  readonly heap: HeapGuard;
}

const shares = { runs: 10 / 16, exchanges: 5 / 16, outputs: 1 / 16 };

/**
 * Shares `bytes` out. While the heap is full nothing more is given.
 * @param onFree called when runs that waited for memory, here or in the queue, may have some now.
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
