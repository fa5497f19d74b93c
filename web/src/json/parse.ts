/**
 * A number with its original text. A parsed number would be inexact: 12345678901234567890 would
 * change.
 */
export class WrittenNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

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

/** Returns a value as indented JSON. Numbers keep their original text. */
export function writeJson(value: Json, indent = "  ", margin = ""): string {
  if (value instanceof WrittenNumber) return value.source;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${margin}${indent}`;
  const entries = Array.isArray(value)
    ? value.map((item) => writeJson(item as Json, indent, inner))
    : Object.entries(value).map(
        ([key, item]) => `${JSON.stringify(key)}: ${writeJson(item as Json, indent, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return `${open}${close}`;
  return `${open}\n${inner}${entries.join(`,\n${inner}`)}\n${margin}${close}`;
}
