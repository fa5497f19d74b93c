import { parseTemplate } from "@beckon/contract";
import { ToolFailure } from "../../tool.ts";

/** The model's values by parameter name. Null counts as omitted. */
export type Values = ReadonlyMap<string, unknown>;

/** Returns the text of a template; each value passes through `encode`. */
export function fillTemplate(
  template: string,
  values: Values,
  encode: (text: string, name: string) => string,
): string {
  const parts = parseTemplate(template) ?? [];
  return parts
    .map((part) => ("text" in part ? part.text : encode(textOf(values.get(part.name)), part.name)))
    .join("");
}

/**
 * Encodes a value inside one path segment.
 *
 * @throws {ToolFailure} it is empty or contains a separator.
 */
export function encodePathText(text: string, name: string): string {
  if (text === "") throw new ToolFailure(`${name} must not be empty: it is part of the path`);
  // Encoded separators are not enough: many servers and proxies decode them before routing.
  if (/[/\\\p{Cc}]/u.test(text))
    throw new ToolFailure(
      `${name} must not contain a slash, backslash or control character: it is part of the path`,
    );
  return encodeQueryText(text);
}

/**
 * Percent-encodes a query value, including characters that encodeURIComponent leaves as they are.
 */
export function encodeQueryText(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Returns a header value unchanged.
 *
 * @throws {ToolFailure} it is not printable ASCII.
 */
export function checkHeaderText(text: string, name: string): string {
  if (!/^[\x20-\x7e]*$/.test(text))
    throw new ToolFailure(
      `${name} must be printable ASCII without line breaks: it is part of a header`,
    );
  return text;
}

/** The arguments were validated before: a scalar. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : String(value);
}
