import { type ErrorCode, type RunErrorCode, reservedRunErrorCodes } from "@beckon/contract";
import { statuses } from "../errors.ts";

/** A new code does not compile until its readers are told what it means. */
const meanings: { readonly [Code in ErrorCode]: string } = {
  bad_request: "the body or the query cannot be read, or a member is wrong or unknown: it is named",
  unauthorized:
    "the credential is absent, malformed, unknown, rotated, revoked or expired: one answer for all",
  forbidden: "the credential stands and may not do this",
  not_found: "there is no such resource that this credential may see",
  method_not_allowed: "the path does not answer this method",
  misdirected:
    "the Host header names another site than this one: browsers are answered at PUBLIC_URL, localhost and IP addresses",
  agent_paused: "the agent is paused",
  trigger_disabled: "the trigger is disabled",
  conflict: "the state does not allow it: the answer says what to do",
  stale: "If-Match names an older version",
  too_large: "the body is over 1 MiB",
  unsupported_type: "the body's type cannot be read",
  idempotency_mismatch: "the Idempotency-Key was used with another body",
  agent_busy: "the agent's queue is full: see Retry-After",
  too_many_requests:
    "too many failed authentications from this address, or streams open with this credential: see Retry-After",
  secret_unreadable: "the master key that sealed the secret is lost: rotate to have a new one",
  internal_error: "Beckon failed by a fault of its own",
  unavailable:
    "Beckon or its database cannot take it now, and nothing was started: see Retry-After",
};

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
    ...codes.map((code) => ({ status: statuses[code], code, meaning: meanings[code] })),
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
