import type { z } from "zod";
import { ApiError, orThrow, type Result } from "./errors.ts";

/**
 * A request body that is not validated yet: its parsed JSON, undefined if there is no body, or the
 * error if it could not be parsed. Operations validate the body themselves, because errors about
 * the credential, the resource and idempotency take precedence
 * (docs/decisions/0005-resource-before-body.md).
 */
export type UnparsedBody = Result<unknown>;

/**
 * Validates a body and returns the schema's output.
 * @param missing value that replaces a body that is absent or null.
 * @throws ApiError the error of a body that could not be parsed; `bad_request` like `parse`.
 */
export function parseBody<S extends z.ZodType>(
  schema: S,
  body: UnparsedBody,
  missing?: z.input<S>,
): z.output<S> {
  const value = orThrow(body);
  return parse(schema, missing === undefined ? value : (value ?? missing));
}

/**
 * Validates `value` and returns the schema's output.
 * @throws ApiError `bad_request` with the first ten problems. Each names an invalid field and what
 *   is allowed there, or the unknown fields of an object. A long message is truncated.
 */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value, { error: wording });
  if (result.success) return result.data;
  throw badRequest(result.error, (issue) => {
    const path = issue.path.map(String).join(".");
    if (issue.code === "unrecognized_keys") {
      const names = issue.keys.map((key) => [path, key].filter(Boolean).join("."));
      return `unknown field${names.length > 1 ? "s" : ""} ${names.join(", ")}`;
    }
    return `${path || "the body"} ${issue.message}`;
  });
}

/**
 * Validates the query parameters and returns the schema's output. A time with a space before its
 * offset is accepted, because that is how a `+` arrives that is not percent-encoded.
 * @throws ApiError `bad_request` with the first ten problems. Each names the unknown query
 *   parameters, or one invalid parameter and, if its value is a comma-separated list, the invalid
 *   item.
 */
export function parseQuery<S extends z.ZodObject>(schema: S, query: unknown): z.output<S> {
  const result = schema.safeParse(withOffsetSigns(query), { error: wording });
  if (result.success) return result.data;
  throw badRequest(result.error, (issue) => {
    if (issue.code === "unrecognized_keys") {
      const plural = issue.keys.length > 1 ? "s" : "";
      const known = Object.keys(schema.shape).join(", ") || "none";
      return `unknown query parameter${plural} ${issue.keys.join(", ")} (known: ${known})`;
    }
    const [name, index] = issue.path;
    const item = typeof index === "number" ? `, item ${index + 1},` : "";
    return `query parameter ${String(name)}${item} ${issue.message}`;
  });
}

/** Returns the query with `+` in place of the space before the offset of a time. */
function withOffsetSigns(query: unknown): unknown {
  if (typeof query !== "object" || query === null) return query;
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      typeof value === "string"
        ? value.replace(/^(\d{4}-\d\d-\d\dT[\d:.]+) (\d\d:\d\d)$/, "$1+$2")
        : value,
    ]),
  );
}

/**
 * Maximum characters of a message. Without a limit, the names of unknown fields could make the
 * message as long as the body.
 */
const maxCharacters = 4_000;

function badRequest(error: z.ZodError, describe: (issue: z.core.$ZodIssue) => string): ApiError {
  const problems = error.issues.slice(0, 10).map(describe).join("; ");
  const shown =
    problems.length <= maxCharacters
      ? problems
      : `${problems.slice(0, maxCharacters).toWellFormed()}…`;
  return new ApiError("bad_request", `${shown}.`);
}

const kinds: { readonly [expected: string]: string } = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a JSON object",
  record: "a JSON object",
  null: "null",
};

/**
 * Returns the error message for an invalid value whose schema defines no message. Returns undefined
 * to use the message of zod.
 */
function wording(issue: z.core.$ZodRawIssue): string | undefined {
  const unit =
    issue.code !== "too_small" && issue.code !== "too_big"
      ? ""
      : issue.origin === "string"
        ? " characters"
        : issue.origin === "array"
          ? " items"
          : "";
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "is missing"
        : `must be ${kinds[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "invalid_union":
      return issue.discriminator === undefined
        ? "is not valid"
        : `must be ${(issue.options as string[]).map((option) => JSON.stringify(option)).join(" or ")}`;
    case "invalid_key":
      return `is not valid: its name ${issue.issues[0]?.message ?? "is not allowed"}`;
    case "invalid_format":
      return issue.format === "datetime"
        ? "must be an RFC 3339 time, for example 2026-01-31T09:30:00Z"
        : undefined;
    case "too_small":
      return `must be at least ${issue.minimum}${unit}`;
    case "too_big":
      return `must be at most ${issue.maximum}${unit}`;
    default:
      return undefined;
  }
}

/**
 * Checks the value of a header. Node decodes header bytes as Latin-1, so a value in UTF-8 would
 * become another one.
 * @throws ApiError `bad_request` unless all characters are printable ASCII.
 */
export function requirePrintableAscii(header: string, value: string): void {
  if (!/^[\x20-\x7e]*$/.test(value))
    throw new ApiError(
      "bad_request",
      `${header} has characters other than printable ASCII. Percent-encode them as UTF-8, for example Z%C3%BCrich.`,
    );
}
