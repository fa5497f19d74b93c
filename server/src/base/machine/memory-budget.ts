import { getHeapStatistics } from "node:v8";
import { ConfigError } from "../errors.ts";

/**
 * Maximum and default of the memory budget, as fractions of the heap's limit. The rest of the heap
 * is needed because the budget counts estimates, and does not count memory that is used for
 * milliseconds only.
 */
const budgetMax = 0.75;
const budgetDefault = 0.5;

/**
 * Returns the memory budget of a server in bytes. `shareMemory` divides it into `ByteBudget`s.
 * @param memoryBudgetMib the operator's setting; undefined for the default.
 * @param heapLimitBytes the heap limit of the server. Default: that of this process.
 * @throws ConfigError if the budget exceeds the maximum.
 */
export function memoryBudget(
  memoryBudgetMib: number | undefined,
  heapLimitBytes = getHeapStatistics().heap_size_limit,
): number {
  if (memoryBudgetMib === undefined) return heapLimitBytes * budgetDefault;
  const max = Math.floor((heapLimitBytes * budgetMax) / mib);
  if (memoryBudgetMib <= max) return memoryBudgetMib * mib;
  throw new ConfigError(
    `BECKON_MEMORY_BUDGET_MIB was ${memoryBudgetMib}; with this server's heap limit it must be ` +
      `at most ${max}. Lower it, or raise the heap's limit with ` +
      "NODE_OPTIONS=--max-old-space-size=<MiB>.",
  );
}

const mib = 1024 * 1024;
