// TypeScript does not declare this function (ECMAScript, JSON.parse source text access) yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * Returns the value of a JSON document, like `JSON.parse`, which rounds integers outside of ±2^53.
 * Here each of them becomes an object that `JSON.stringify` writes with all its digits.
 * @throws SyntaxError if the text is not JSON
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const { source = "" } = context ?? {};
    const isRounded = typeof value === "number" && !Number.isSafeInteger(value);
    return isRounded && /^-?\d+$/.test(source) ? rawJSON(source) : value;
  });
}
