/**
 * Returns a JSON text without whitespace outside of its strings: on one line, as the demo model
 * needs it. The values stay as they were typed, also integers that `JSON.parse` would round.
 * @returns undefined if the text is not JSON
 */
export function onOneLine(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return text.replace(/("(?:\\.|[^"\\])*")|\s+/g, "$1");
}
