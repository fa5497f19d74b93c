import { parseTemplate } from "@beckon/contract";
import { ToolFailure } from "../../tool.ts";

/** What the model filled in, by name. Null counts as left out. */
export type Values = ReadonlyMap<string, unknown>;

/** The text of a template, each value passed through `encode`. */
export function fill(
  template: string,
  values: Values,
  encode: (text: string, name: string) => string,
): string {
  const parts = parseTemplate(template) ?? [];
  return parts
    .map((part) => ("text" in part ? part.text : encode(textOf(values.get(part.name)), part.name)))
    .join("");
}

/** One segment of a path, or a piece of one: it ends no segment and makes none. @throws ToolFailure */
export function inPath(text: string, name: string): string {
  if (text === "") throw new ToolFailure(`${name} must not be empty: it is part of the path`);
  // Encoded they would pass, and be decoded by many a server or proxy on the way.
  if (/[/\\\p{Cc}]/u.test(text))
    throw new ToolFailure(
      `${name} must not hold a slash, backslash or control character: it is part of the path`,
    );
  return inQuery(text);
}

/** A value in a query; nothing in it ends the value. */
export function inQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A value in a header, or a part of one. @throws ToolFailure */
export function inHeader(text: string, name: string): string {
  if (!/^[\x20-\x7e]*$/.test(text))
    throw new ToolFailure(
      `${name} must be printable ASCII without line breaks: it is part of a header`,
    );
  return text;
}

/** Arguments have fitted their schema before: a scalar. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : String(value);
}
