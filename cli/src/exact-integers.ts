// TypeScript does not declare this function (ECMAScript, JSON.parse source text access) yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * Parses JSON like `JSON.parse`, but keeps all digits of integers outside of ±2^53, which
 * `JSON.parse` rounds. Each such integer becomes an object that `JSON.stringify` writes with all
 * its digits.
 * @throws SyntaxError if the text is not JSON
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const { source = "" } = context ?? {};
    const isRounded = typeof value === "number" && !Number.isSafeInteger(value);
    return isRounded && /^-?\d+$/.test(source) ? rawJSON(source) : value;
  });
}
