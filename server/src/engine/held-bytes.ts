/**
 * Bytes that a JSON value takes in memory, at most, with `copies` of its JSON text beside it (the
 * journal's entry, on its way to the database). A character counts as two bytes: one that is not
 * Latin-1 makes all of its text as wide. An empty object has six words.
 */
export function heldBytesOf(value: unknown, copies: number): number {
  return valueBytes(value) + 2 * copies * (JSON.stringify(value)?.length ?? 0);
}

/** Without recursion: a value may be nested deeper than the stack. */
function valueBytes(value: unknown): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") bytes += 32 + 2 * next.length;
    else if (Array.isArray(next)) {
      bytes += 48 + 8 * next.length;
      for (const member of next) open.push(member);
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
