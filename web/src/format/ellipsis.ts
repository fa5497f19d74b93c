/**
 * Shortens an id in its middle, where ids of one kind differ least for the reader:
 * `run_01k9x2…h7f3`. The type prefix (`run_`) stays whole.
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

/** Cuts a text to one line of at most `max` characters, whole code points, with `…` at its end. */
export function firstLine(text: string, max = 200): string {
  const line = text.trimStart().split(/[\r\n]/, 1)[0] ?? "";
  // 2 UTF-16 units a character at most: slicing first keeps long texts cheap.
  const characters = [...line.slice(0, max * 2)];
  const cut = characters.length > max || line.length > max * 2 || text.trim().length > line.length;
  return cut ? `${characters.slice(0, max).join("").trimEnd()}…` : line;
}
