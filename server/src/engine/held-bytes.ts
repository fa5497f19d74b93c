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
