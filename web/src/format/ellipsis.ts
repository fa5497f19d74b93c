/**
 * Shortens an id in its middle: `run_01k9x2…h7f3`. Its beginning and its end are enough to
 * recognize it. The type prefix (`run_`) stays whole.
 *
 * @param keep visible characters after the prefix, at least 4
 */
export function shortenId(id: string, keep = 10): string {
  const prefix = /^[a-z]+_/.exec(id)?.[0] ?? "";
  const rest = id.slice(prefix.length);
  if (rest.length <= keep + 1) return id;
  const tail = Math.floor(keep * 0.4);
  return `${prefix}${rest.slice(0, keep - tail)}…${rest.slice(-tail)}`;
}

/** Truncates a text to one line of at most `max` characters (code points), with `…` at its end. */
export function firstLine(text: string, max = 200): string {
  const line = text.trimStart().split(/[\r\n]/, 1)[0] ?? "";
  // A character has at most 2 UTF-16 code units. Slicing first avoids splitting a long text into
  // characters.
  const characters = [...line.slice(0, max * 2)];
  const cut = characters.length > max || line.length > max * 2 || text.trim().length > line.length;
  return cut ? `${characters.slice(0, max).join("").trimEnd()}…` : line;
}
