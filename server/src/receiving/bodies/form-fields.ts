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

/**
 * Returns the fields of a URL-encoded form; undefined if the text is JSON or has no `=`. Such text
 * often has the Content-Type of a form, because curl sends every body with it by default.
 * @throws ApiError `bad_request` if there are more than `maxFields`
 */
export function urlEncodedFields(
  text: string,
  maxFields: number,
): Record<string, string | string[]> | undefined {
  if (!text.includes("=") || isJson(text)) return undefined;
  if (hasMoreFields(text, maxFields)) throw tooManyFields(maxFields);
  const fields = new FormFields(maxFields);
  for (const [name, value] of new URLSearchParams(withValues(text))) fields.add(name, value);
  return fields.toObject();
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
