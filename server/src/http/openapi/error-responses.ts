import {
  type ErrorCode,
  type RunErrorCode,
  reservedRunErrorCodes,
  runErrorCode,
  runErrorMeanings,
} from "@beckon/contract";
import { maxStoredRejections } from "../../runs/index.ts";
import { apiErrors } from "../errors.ts";
import { headersOf } from "./response-headers.ts";

/** Error codes whose responses have `Retry-After` if a limit that resets by itself is the cause. */
const resets: readonly string[] = ["agent_paused", "plan_exhausted", "ceiling_reached"];

const isRunError = (code: ErrorCode | RunErrorCode): code is RunErrorCode =>
  code in runErrorMeanings;

const headersByStatus: Readonly<Record<number, Record<string, unknown>>> = {
  401: headersOf("RateLimitPolicy", "RateLimit", "WwwAuthenticate"),
  429: headersOf("RetryAfter", "RateLimitPolicy", "RateLimit"),
  503: headersOf("RetryAfter"),
};

/**
 * The response with an error that no operation declares, because it does not depend on the
 * operation: the router or Node's HTTP parser sends it.
 */
const anyError = {
  description:
    "An error with another status, in the same form. 405 `method_not_allowed`: the path does not support the method. 408 `bad_request`: the request arrived too slowly. 431 `too_large`: the headers are larger than 16 KiB.",
  headers: headersOf(),
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

/**
 * Returns the error responses of an operation with these codes, by status, and `default` for all
 * other statuses. `runs` adds the response 500 with the codes of `runErrorCode`.
 *
 * A response with one code is the same for all operations, so it is a reference to one of
 * `sharedErrors`: hundreds of copies would take half of the document.
 */
export function errorResponses(
  codes: readonly (ErrorCode | RunErrorCode)[],
  { runs = false } = {},
): Record<string, unknown> {
  const all = new Set([...codes, ...(runs ? runErrorCode.options : [])]);
  const byStatus = Map.groupBy([...all].map(describe), ({ status }) => status);
  const declared = Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, each]) => {
        const [first, ...others] = each;
        return [
          status,
          first !== undefined && others.length === 0 ? referTo(first.code) : responseWith(each),
        ];
      }),
  );
  return { ...declared, default: referTo("Error") };
}

/** Returns the responses that these paths refer to, by name. */
export function sharedErrors(paths: object): Record<string, object> {
  const names = JSON.stringify(paths).matchAll(/"#\/components\/responses\/(\w+)"/g);
  return Object.fromEntries(
    [...new Set(Array.from(names, ([, name]) => name as ErrorCode | "Error"))]
      .sort()
      .map((name) => [name, name === "Error" ? anyError : responseWith([describe(name)])]),
  );
}

const referTo = (name: ErrorCode | RunErrorCode | "Error") => ({
  $ref: `#/components/responses/${name}`,
});

interface DescribedError {
  readonly status: number;
  readonly code: ErrorCode | RunErrorCode;
  readonly meaning: string;
}

function describe(code: ErrorCode | RunErrorCode): DescribedError {
  if (!isRunError(code)) return { code, ...apiErrors[code] };
  const reserved: readonly string[] = reservedRunErrorCodes;
  const meaning = reserved.includes(code)
    ? `reserved, not used yet: ${runErrorMeanings[code]}`
    : `${runErrorMeanings[code]}; the response has run_id${unlessNotStored(code)}`;
  return { status: 500, code, meaning };
}

/** Returns when responses with this error have no run_id, because no run was stored. */
function unlessNotStored(code: RunErrorCode): string {
  return code === "plan_exhausted" || code === "ceiling_reached"
    ? ` unless a limit rejected more than ${maxStoredRejections} starts of the agent or trigger in this minute`
    : "";
}

/** Returns the response with one of these errors, which have the same status. */
function responseWith(errors: readonly DescribedError[]): object {
  const resetsItself = errors.some(({ code }) => resets.includes(code));
  return {
    description: errors.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join("; "),
    headers:
      headersByStatus[errors[0]?.status ?? 0] ??
      (resetsItself ? headersOf("RetryAfter") : headersOf()),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        example: {
          ok: false,
          error: "What went wrong and what to do.",
          code: errors[0]?.code,
        },
      },
    },
  };
}
