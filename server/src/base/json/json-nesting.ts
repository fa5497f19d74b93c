/**
 * Returns whether the arrays and objects of a JSON text are nested more than `maxLevels` levels
 * deep. Code that visits or copies such a value recursively can overflow the stack.
 */
export function isNestedDeeper(text: string, maxLevels: number): boolean {
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case openBrace:
      case openBracket:
        if (++level > maxLevels) return true;
        break;
      case closeBrace:
      case closeBracket:
        level--;
    }
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const [openBrace, closeBrace] = [0x7b, 0x7d];
const [openBracket, closeBracket] = [0x5b, 0x5d];

/**
 * Returns the index of the quote that ends a string; the text's length if there is none.
 * @param start index of the quote that begins the string.
 */
export function endOfString(text: string, start: number): number {
  for (let end = start; ; ) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}
