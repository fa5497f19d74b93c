import { parseTemplate } from "@beckon/contract";
import { isRawNumber } from "../../../base/json/index.ts";
import { ToolFailure } from "../../tool.ts";

/** The model's values by parameter name. A value of null counts as omitted. */
export type Values = ReadonlyMap<string, unknown>;

/** Returns the text of a template with its values filled in. Each value passes through `encode`. */
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
 * Percent-encodes a value that becomes part of one segment of a URL's path.
 *
 * @throws {ToolFailure} the value is empty or contains a slash, backslash or control character.
 */
export function encodePathText(text: string, name: string): string {
  if (text === "") throw new ToolFailure(`${name} must not be empty: it is part of the path`);
  // Encoding a slash or backslash is not enough, because many servers and proxies decode it before
  // they route the request.
  if (/[/\\\p{Cc}]/u.test(text))
    throw new ToolFailure(
      `${name} must not contain a slash, backslash or control character: it is part of the path`,
    );
  return encodeQueryText(text);
}

/**
 * Percent-encodes a query value, including the characters `!'()*`, which encodeURIComponent does
 * not encode.
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
 * @throws {ToolFailure} the value is not printable ASCII.
 */
export function checkHeaderText(text: string, name: string): string {
  if (!/^[\x20-\x7e]*$/.test(text))
    throw new ToolFailure(
      `${name} must be printable ASCII without line breaks: it is part of a header`,
    );
  return text;
}

/** Returns the text of an argument, which was validated before and is a scalar. */
export function textOf(value: unknown): string {
  return isRawNumber(value) ? value.rawJSON : String(value);
}
