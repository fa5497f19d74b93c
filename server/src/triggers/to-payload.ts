import { ApiError } from "../base/errors.ts";
import { parseJson } from "../base/parse-json.ts";

/**
 * Returns the payload of a run that a trigger starts. Text and JSON are unchanged; a URL-encoded
 * form is converted to JSON, which models read better.
 * @param contentType value of the header; if it is undefined or empty, the body is text.
 * @param readText returns the body as text; called only if the content type is supported.
 * @throws ApiError `unsupported_type`; `bad_request` if the body is not what its type says; the
 *   errors of `readText`.
 */
export function toPayload(contentType: string | undefined, readText: () => string): string {
  const type = (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "" || type.startsWith("text/")) return readText();
  if (/^[^/]+\/(.+\+)?json$/.test(type)) {
    const text = readText();
    if (text !== "") parseJson(text);
    return text;
  }
  if (type === "application/x-www-form-urlencoded") return formPayload(readText());
  throw new ApiError(
    "unsupported_type",
    `A trigger does not accept ${type}. Send JSON, text or a URL-encoded form.`,
  );
}

/**
 * Converts a URL-encoded form to JSON. Returns text that is not a form unchanged, because curl
 * labels every body as a form by default.
 */
function formPayload(text: string): string {
  if (!text.includes("=") || isJson(text)) return text;
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = fields.get(name);
    fields.set(
      name,
      earlier === undefined ? value : [...(Array.isArray(earlier) ? earlier : [earlier]), value],
    );
  }
  return JSON.stringify(Object.fromEntries(fields));
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
