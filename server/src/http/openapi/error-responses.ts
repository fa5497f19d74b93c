import { type ErrorCode, type RunErrorCode, reservedRunErrorCodes } from "@beckon/contract";
import { apiErrors } from "../errors.ts";
import { headersOf } from "./response-headers.ts";

/** Why a run failed. Invoke responds with 500 and one of these codes. */
export const runErrors: { readonly [Code in RunErrorCode]: string } = {
  model_error: "the model's provider failed or rejected the request",
  model_timeout: "the model took too long",
  tool_error: "a tool failed permanently",
  step_limit: "the run reached its limit of steps",
  deadline_exceeded: "the run reached its limit of time",
  plan_exhausted: "the workspace's allowance is used up",
  ceiling_reached: "the daily limit of money is reached",
  interrupted: "the run lost its process too often",
  cancelled: "the run was cancelled",
};

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
  codes: readonly ErrorCode[],
  { runs = false } = {},
): Record<string, unknown> {
  const reserved: readonly string[] = reservedRunErrorCodes;
  const errors = [
    ...codes.map((code) => ({ code, ...apiErrors[code] })),
    ...Object.entries(runs ? runErrors : {}).map(([code, meaning]) => ({
      status: 500,
      code,
      meaning: reserved.includes(code)
        ? `reserved, not used yet: ${meaning}`
        : `${meaning}; the response has run_id`,
    })),
  ];
  const byStatus = Map.groupBy(errors, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, each]) => [
        status,
        {
          description: each.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join("; "),
          headers: headersByStatus[status] ?? headersOf(),
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
