import { type ErrorCode, type RunErrorCode, reservedRunErrorCodes } from "@beckon/contract";
import { apiErrors } from "../errors.ts";
import { headersOf } from "./response-headers.ts";

/** The reason why a run failed, by error code. Invoke responds with 500 and the code. */
export const runErrors: { readonly [Code in RunErrorCode]: string } = {
  model_error: "the model's provider failed or rejected the request",
  model_timeout: "the model took too long",
  tool_error: "a tool failed permanently",
  step_limit: "the run reached its limit of steps",
  deadline_exceeded: "the run reached its limit of time",
  plan_exhausted: "the allowance of the workspace's plan is used up: see `limit` and Retry-After",
  ceiling_reached: "a ceiling of cost is reached: see `limit` and Retry-After",
  price_unknown: "a limit in money applies, and the model has no known price",
  mapping_error: "the filter or the message template of the trigger failed with this request",
  interrupted: "the run lost its process too often",
  cancelled: "the run was cancelled",
};

/** Error codes whose responses have `Retry-After` if a limit that resets by itself is the cause. */
const resets: readonly string[] = ["agent_paused", "plan_exhausted", "ceiling_reached"];

const isRunError = (code: ErrorCode | RunErrorCode): code is RunErrorCode => code in runErrors;

const headersByStatus: Readonly<Record<number, Record<string, unknown>>> = {
  401: headersOf("RateLimitPolicy", "RateLimit"),
  429: headersOf("RetryAfter", "RateLimitPolicy", "RateLimit"),
  503: headersOf("RetryAfter"),
};

/**
 * Returns the error responses of an operation with these codes, by status. `runs` adds the response
 * 500 with the codes of `runErrors`.
 */
export function errorResponses(
  codes: readonly (ErrorCode | RunErrorCode)[],
  { runs = false } = {},
): Record<string, unknown> {
  const reserved: readonly string[] = reservedRunErrorCodes;
  const all = new Set([...codes, ...(runs ? (Object.keys(runErrors) as RunErrorCode[]) : [])]);
  const errors = [...all].map((code) => {
    if (!isRunError(code)) return { code, ...apiErrors[code] };
    const meaning = reserved.includes(code)
      ? `reserved, not used yet: ${runErrors[code]}`
      : `${runErrors[code]}; the response has run_id`;
    return { status: 500, code, meaning };
  });
  const byStatus = Map.groupBy(errors, ({ status }) => status);
  return Object.fromEntries(
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
}
