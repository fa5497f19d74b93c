/**
 * A number with its original text. A parsed number would be inexact: 12345678901234567890 would
 * change.
 */
export class WrittenNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Makes `JSON.stringify` write the original text. */
  toJSON(): unknown {
    return rawJson(this.source);
  }
}

// TypeScript does not declare JSON.rawJSON (ECMAScript, JSON.parse source text access) yet.
// Browsers without it have no `source` in the reviver either, so there is no `WrittenNumber` in
// them.
const rawJson = (text: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

/** A JSON value. Numbers are `WrittenNumber` in browsers that can keep their original text. */
export type Json =
  | null
  | boolean
  | string
  | number
  | WrittenNumber
  | readonly Json[]
  | { readonly [key: string]: Json };

/** `JSON.parse` of ES2026, whose reviver also gets the text of each value. */
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown,
) => unknown;

/**
 * Parses JSON. Numbers keep their original text in browsers whose `JSON.parse` supports this.
 *
 * @returns undefined if the text is not JSON
 */
export function parseJson(text: string): Json | undefined {
  try {
    return (JSON.parse as ParseWithSource)(text, (_key, value, context) =>
      typeof value === "number" && context?.source !== undefined
        ? new WrittenNumber(context.source)
        : value,
    ) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON as `JSON.parse` does, but integers outside of ±2^53, which would be rounded, become
 * `WrittenNumber` in browsers that can keep their original text.
 * @throws SyntaxError if the text is not JSON
 */
export function parseExactly(text: string): unknown {
  return (JSON.parse as ParseWithSource)(text, (_key, value, context) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    const source = context?.source ?? "";
    return /^-?\d+$/.test(source) ? new WrittenNumber(source) : value;
  });
}
