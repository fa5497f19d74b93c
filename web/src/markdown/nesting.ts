/**
 * Maximum number of levels. Parsing takes quadratic time in the number of levels, and thousands of
 * them exceed the stack.
 */
const maxLevels = 100;

/** A line that starts with too many markers of block quotes, list items and footnotes. */
const nestedBlocks = new RegExp(
  String.raw`^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)]|\[\^[^\s\]]{1,99}\]:)[ \t])){${maxLevels}}`,
  "m",
);

/**
 * The markers of emphasis that begin a level, which are after a space, and those that end one,
 * which are not before a letter or digit. A blank line ends all levels.
 */
const emphasis = /(?<begin>(?<!\S)[*_~]+(?=\S))|(?<end>(?<=\S)[*_~]+(?![\p{L}\p{N}]))|\n\s*\n/gu;

/** Returns whether a Markdown text has too many levels to be parsed in a short time. */
export function isTooNested(text: string): boolean {
  if (nestedBlocks.test(text)) return true;
  let level = 0;
  for (const { groups } of text.matchAll(emphasis)) {
    if (groups?.begin !== undefined) level++;
    else level = groups?.end === undefined ? 0 : Math.max(0, level - 1);
    if (level > maxLevels) return true;
  }
  return false;
}
