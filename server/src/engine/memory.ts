import type { ByteHold } from "../base/byte-budget.ts";
import { ModelFailure } from "./model-failure.ts";

/**
 * Returns an upper bound of the heap bytes of a JSON value and `copies` copies of its JSON text
 * (for example the journal entry that is being sent to the database). Each character counts as two
 * bytes, because one character outside Latin-1 makes V8 store the whole string as UTF-16. An empty
 * object takes 56 bytes in V8, and counts as 64, because the result must not be too small.
 */
export function heldBytesOf(value: unknown, copies: number): number {
  return valueBytes(value) + 2 * copies * (JSON.stringify(value)?.length ?? 0);
}

/**
 * Returns an upper bound of the heap bytes of a value. It is not recursive, because values can be
 * nested more deeply than the call stack allows.
 */
function valueBytes(value: unknown): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") bytes += 32 + 2 * next.length;
    else if (Array.isArray(next)) {
      bytes += 48 + 8 * next.length;
      for (const item of next) open.push(item);
    } else if (typeof next === "object" && next !== null) {
      bytes += 64;
      for (const [name, member] of Object.entries(next)) {
        bytes += 64 + 2 * name.length;
        open.push(member);
      }
    } else bytes += 16;
  }
  return bytes;
}

/**
 * Returns the failure of a run that needs more memory than is available. The run fails and does not
 * wait for memory. It already holds some, and the runs that would have to release theirs may be
 * waiting for the memory of this run (deadlock).
 * @param effect what this did to the run, as a clause without a full stop.
 */
export function noMemory(effect: string, { maxBytes }: ByteHold): ModelFailure {
  return new ModelFailure(`${effect}: ${memoryIsUsedUp(maxBytes)}`, { retryable: false });
}

/**
 * Returns the part of an error message that says that no memory is left.
 *
 * @param maxBytes limit for the runs of one workspace in this process.
 */
export function memoryIsUsedUp(maxBytes: number): string {
  const mib = Math.floor(maxBytes / 1024 / 1024);
  return `the runs of this workspace use all the memory that they can use in one server process (${mib} MiB), or the process has none left. Start fewer runs at once, ask for shorter answers, or ask the operator to raise BECKON_MEMORY_BUDGET_MIB.`;
}
