import { ApiError } from "../../base/errors.ts";

/** Maximum depth of arrays and objects in a JSON body. */
const maxNesting = 200;

/**
 * Checks how deep a JSON text is nested, before it is parsed: code that visits or copies a value
 * recursively would overflow the stack.
 * @throws ApiError `bad_request` if it is nested more than 200 levels deep
 */
export function checkNesting(text: string): void {
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case openBrace:
      case openBracket:
        if (++level > maxNesting) throw tooDeep();
        break;
      case closeBrace:
      case closeBracket:
        level--;
    }
  }
}

const quote = 0x22;
const backslash = 0x5c;
const [openBrace, closeBrace] = [0x7b, 0x7d];
const [openBracket, closeBracket] = [0x5b, 0x5d];

/** Returns the index of the quote that ends the string; the text's length if there is none. */
export function endOfString(text: string, start: number): number {
  for (let end = start; ; ) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

function tooDeep(): ApiError {
  return new ApiError(
    "bad_request",
    `The JSON is nested more than ${maxNesting} levels deep. Send it flatter.`,
  );
}
