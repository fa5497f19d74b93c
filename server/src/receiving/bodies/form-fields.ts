import { ApiError } from "../../base/errors.ts";
import { parseJson } from "../../base/json/index.ts";

/**
 * Maximum number of fields in a form. It does not apply to triggers without the settings
 * `receiving`: see `toPayload`.
 */
export const maxFormFields = 1_000;

/**
 * Collects the fields of a form. A field that occurs several times becomes an array, in order.
 */
export class FormFields<T = string> {
  readonly #fields = new Map<string, T | T[]>();
  readonly #maxFields: number;
  #count = 0;

  constructor(maxFields: number) {
    this.#maxFields = maxFields;
  }

  /** @throws ApiError `bad_request` if there are more than `maxFields` */
  add(name: string, value: T): void {
    if (++this.#count > this.#maxFields) throw tooManyFields(this.#maxFields);
    const earlier = this.#fields.get(name);
    if (earlier === undefined) this.#fields.set(name, value);
    else if (Array.isArray(earlier)) earlier.push(value);
    else this.#fields.set(name, [earlier, value]);
  }

  /** Returns an object with own fields only, even if a field is called `__proto__`. */
  toObject(): Record<string, T | T[]> {
    return Object.fromEntries(this.#fields);
  }
}

export function tooManyFields(maxFields: number): ApiError {
  return new ApiError(
    "bad_request",
    `The form has more than ${maxFields.toLocaleString("en")} fields. Send fewer fields.`,
  );
}

export function notInItsCharset(): ApiError {
  return new ApiError(
    "bad_request",
    "The form is not valid text in its charset, which is UTF-8 unless the form names another. Send the form in UTF-8.",
  );
}

/**
 * Returns the fields of a URL-encoded form; undefined if the text is JSON or has no `=`. Such text
 * often has the Content-Type of a form, because curl sends every body with it by default.
 * @param contentType value of the header; its charset is that of the form, unless the form has a
 *   field `_charset_`. The default is UTF-8.
 * @throws ApiError `bad_request` if there are more than `maxFields`, or if the form is not text in
 *   its charset
 */
export function urlEncodedFields(
  text: string,
  {
    contentType,
    maxFields,
  }: { readonly contentType?: string | undefined; readonly maxFields: number },
): Record<string, string | string[]> | undefined {
  if (!text.includes("=") || isJson(text)) return undefined;
  if (hasMoreFields(text, maxFields)) throw tooManyFields(maxFields);
  const fields = new FormFields(maxFields);
  const form = inUtf8(text, charsetOf(text, contentType));
  for (const [name, value] of new URLSearchParams(withValues(form))) fields.add(name, value);
  return fields.toObject();
}

/** @see HTML Standard, "Naming form controls: the name attribute", about `_charset_` */
function charsetOf(text: string, contentType = ""): string {
  const [, charset = "utf-8"] =
    /(?:^|&)_charset_=([^&]*)/.exec(text) ?? /;\s*charset="?([^\s;"]+)/i.exec(contentType) ?? [];
  return charset;
}

/**
 * Returns the form with its percent-encoded bytes in UTF-8, and so that each `%` encodes a byte. In
 * any other form, `URLSearchParams` would replace characters by U+FFFD.
 * @throws ApiError `bad_request` if the form's percent-encoded bytes are not text in `charset`
 */
function inUtf8(form: string, charset: string): string {
  const decoder = decoderOf(charset);
  if (decoder.encoding === "utf-8" && canDecode(form)) return form;
  // Names and values are decoded whole: in some charsets, the second byte of a character can be
  // that of a letter, which is not percent-encoded.
  return form.replace(/[^&=?\u0080-\uffff]+/g, (encoded) => {
    if (!encoded.includes("%")) return encoded;
    const bytes = encoded
      .replaceAll("+", " ")
      .replace(/%([\da-f]{2})/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
    try {
      return encodeURIComponent(decoder.decode(Buffer.from(bytes, "latin1")));
    } catch {
      throw notInItsCharset();
    }
  });
}

/** Returns whether each `%` encodes a byte, and these bytes are UTF-8. */
function canDecode(form: string): boolean {
  try {
    decodeURIComponent(form);
    return true;
  } catch {
    return false;
  }
}

/** Returns a decoder of UTF-8 if the charset is unknown. */
function decoderOf(charset: string) {
  const options = { fatal: true, ignoreBOM: true };
  try {
    return new TextDecoder(charset, options);
  } catch {
    return new TextDecoder("utf-8", options);
  }
}

/**
 * Adds the `=` that fields without a value lack. `a=` means the same as `a`, but the time that
 * Node's `URLSearchParams` needs grows with the square of the number of fields without `=`: 3
 * seconds for 1 MiB.
 */
function withValues(text: string): string {
  // `URLSearchParams` ignores one `?` at the start of a form, so one `?` is removed here. A second
  // `?` belongs to the first field's name. The `&` put before the form makes `URLSearchParams` keep
  // it.
  return `&${text.replace(/^\?/, "").replace(/(?<=^|&)[^&=]+(?=&|$)/g, "$&=")}`;
}

/**
 * Returns whether a URL-encoded form has more than `maxFields` fields. Does not parse the form:
 * `URLSearchParams` would create millions of fields for 25 MiB before the first can be counted.
 */
export function hasMoreFields(text: string, maxFields: number): boolean {
  if (maxFields === Number.POSITIVE_INFINITY) return false;
  let count = 0;
  let isField = false;
  for (let at = 0; at < text.length && count <= maxFields; at++) {
    const isSeparator = text.charCodeAt(at) === ampersand;
    if (!isSeparator && !isField) count++;
    isField = !isSeparator;
  }
  return count > maxFields;
}

const ampersand = 0x26;

function isJson(text: string): boolean {
  // Most forms start with a letter other than t, f and n, and are recognized without the parser:
  // the only JSON texts that start with a letter are `true`, `false` and `null`.
  if (!/^[\s\ufeff]*["[{\d\-tfn]/.test(text)) return false;
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
