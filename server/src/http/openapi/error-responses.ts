import {
  type ErrorCode,
  type RunErrorCode,
  reservedRunErrorCodes,
  runErrorCode,
  runErrorMeanings,
} from "@beckon/contract";
import { apiErrors } from "../errors.ts";
import { headersOf } from "./response-headers.ts";

/** Error codes whose responses have `Retry-After` if a limit that resets by itself is the cause. */
const resets: readonly string[] = ["agent_paused", "plan_exhausted", "ceiling_reached"];

const isRunError = (code: ErrorCode | RunErrorCode): code is RunErrorCode =>
  code in runErrorMeanings;

const headersByStatus: Readonly<Record<number, Record<string, unknown>>> = {
  401: headersOf("RateLimitPolicy", "RateLimit"),
  429: headersOf("RetryAfter", "RateLimitPolicy", "RateLimit"),
  503: headersOf("RetryAfter"),
};

/**
 * The response with an error that no operation declares, because it does not depend on the
 * operation: the router or Node's HTTP parser sends it.
 */
export const anyError = {
  description:
    "An error with another status, in the same form. 405 `method_not_allowed`: the path does not support the method. 408 `bad_request`: the request arrived too slowly. 431 `too_large`: the headers are larger than 16 KiB.",
  headers: headersOf(),
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

/**
 * Returns the error responses of an operation with these codes, by status, and `default` for all
 * other statuses. `runs` adds the response 500 with the codes of `runErrorCode`.
 */
export function errorResponses(
  codes: readonly (ErrorCode | RunErrorCode)[],
  { runs = false } = {},
): Record<string, unknown> {
  const reserved: readonly string[] = reservedRunErrorCodes;
  const all = new Set([...codes, ...(runs ? runErrorCode.options : [])]);
  const errors = [...all].map((code) => {
    if (!isRunError(code)) return { code, ...apiErrors[code] };
    const meaning = reserved.includes(code)
      ? `reserved, not used yet: ${runErrorMeanings[code]}`
      : `${runErrorMeanings[code]}; the response has run_id`;
    return { status: 500, code, meaning };
  });
  const byStatus = Map.groupBy(errors, ({ status }) => status);
  const declared = Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, each]) => [
        status,
        {
          description: each.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join("; "),
          headers:
            headersByStatus[status] ??
            (each.some(({ code }) => resets.includes(code))
              ? headersOf("RetryAfter")
              : headersOf()),
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/Error" },
              example: {
                ok: false,
                error: "What went wrong and what to do.",
                code: each[0]?.code,
              },
            },
          },
        },
      ]),
  );
  return { ...declared, default: { $ref: "#/components/responses/Error" } };
}
