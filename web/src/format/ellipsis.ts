/** Characters of a shortened id, after its prefix, at its beginning and at its end. */
const headLength = 6;
const tailLength = 4;

/**
 * Shortens an id in its middle: `run_01k9x2…h7f3`. Its beginning and its end are enough to
 * recognize it. The type prefix (`run_`) stays whole.
 */
export function shortenId(id: string): string {
  const prefix = /^[a-z]+_/.exec(id)?.[0] ?? "";
  const rest = id.slice(prefix.length);
  if (rest.length <= headLength + tailLength + 1) return id;
  return `${prefix}${rest.slice(0, headLength)}…${rest.slice(-tailLength)}`;
}

/** Maximum length of a first line. */
const maxCharacters = 200;

/** Truncates a text to one line of at most 200 characters (code points), with `…` at its end. */
export function firstLine(text: string): string {
  const line = text.trimStart().split(/[\r\n]/, 1)[0] ?? "";
  // A character has at most 2 UTF-16 code units. Slicing first avoids splitting a long text into
  // characters.
  const characters = [...line.slice(0, maxCharacters * 2)];
  const cut =
    characters.length > maxCharacters ||
    line.length > maxCharacters * 2 ||
    text.trim().length > line.length;
  return cut ? `${characters.slice(0, maxCharacters).join("").trimEnd()}…` : line;
}
