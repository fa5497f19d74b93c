import { type ErrorCode, type RunErrorCode, reservedRunErrorCodes } from "@beckon/contract";
import { apiErrors } from "../errors.ts";

/** Why a run ended without an answer, as an invoke is told with 500. */
const runMeanings: { readonly [Code in RunErrorCode]: string } = {
  model_error: "the model's provider refused or failed",
  model_timeout: "the model took too long",
  tool_error: "a tool failed for good",
  step_limit: "the run took all the steps it may",
  deadline_exceeded: "the run took all the time it may",
  plan_exhausted: "the workspace's allowance is used up",
  ceiling_reached: "the daily limit of money is reached",
  interrupted: "the run lost its process too often",
  cancelled: "the run was cancelled",
};

const text = { schema: { type: "string" } };

/** Headers of refusals, as the document's components. */
export const errorHeaders = {
  RetryAfter: { description: "Seconds after which to try again.", schema: { type: "integer" } },
  RateLimitPolicy: {
    description: 'A limit, for example `"failed-authentications";q=300;w=60`.',
    ...text,
  },
  RateLimit: {
    description:
      'What is left of it, and for how many seconds, for example `"failed-authentications";r=0;t=42`.',
    ...text,
  },
} as const;

const at = (name: keyof typeof errorHeaders) => ({ $ref: `#/components/headers/${name}` });
const limit = { "RateLimit-Policy": at("RateLimitPolicy"), RateLimit: at("RateLimit") };
const wait = { "Retry-After": at("RetryAfter") };
const headersByStatus: Readonly<Record<number, Record<string, unknown>>> = {
  401: limit,
  429: { ...wait, ...limit },
  503: wait,
};

/** The responses of an operation that may refuse with these codes, by status. */
export function errorResponses(
  codes: readonly ErrorCode[],
  { runs = false } = {},
): Record<string, unknown> {
  const reserved: readonly string[] = reservedRunErrorCodes;
  const told = [
    ...codes.map((code) => ({ code, ...apiErrors[code] })),
    ...Object.entries(runs ? runMeanings : {}).map(([code, meaning]) => ({
      status: 500,
      code,
      meaning: reserved.includes(code)
        ? `reserved, not produced yet: ${meaning}`
        : `${meaning}; run_id is given`,
    })),
  ];
  const byStatus = Map.groupBy(told, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, each]) => [
        status,
        {
          description: each.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join("; "),
          ...(headersByStatus[status] === undefined ? {} : { headers: headersByStatus[status] }),
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/Error" },
              example: {
                ok: false,
                error: "What went wrong, and what to do.",
                code: each[0]?.code,
              },
            },
          },
        },
      ]),
  );
}
