import type { RefusalCode, RunErrorCode } from "@beckon/contract";
import { statuses } from "../errors.ts";

/** A new code does not compile until its readers are told what it means. */
const meanings: { readonly [Code in RefusalCode]: string } = {
  bad_request: "the body or the query cannot be read, or a member is wrong or unknown: it is named",
  unauthorized: "the credential is absent, malformed, unknown, rotated, revoked or expired: one answer for all",
  forbidden: "the credential stands and may not do this",
  not_found: "there is no such resource that this credential may see",
  method_not_allowed: "the path does not answer this method",
  agent_paused: "the agent is paused",
  trigger_disabled: "the trigger is disabled",
  conflict: "the state does not allow it: the answer says what to do",
  stale: "If-Match names an older version",
  too_large: "the body is over 1 MiB",
  unsupported_type: "the body's type cannot be read",
  idempotency_mismatch: "the Idempotency-Key was used with another body",
  agent_busy: "the agent's queue is full: see Retry-After",
  too_many_requests: "too many failed authentications from this address: see Retry-After",
  secret_unreadable: "the master key that sealed the secret is lost: rotate to have a new one",
  internal_error: "Beckon failed by a fault of its own",
  unavailable: "Beckon or its database cannot take it now, and nothing was started: see Retry-After",
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

/** The responses of an operation that may refuse with these codes, by status. */
export function errorResponses(codes: readonly RefusalCode[], { runs = false } = {}): Record<string, unknown> {
  const told = [
    ...codes.map((code) => ({ status: statuses[code], code, meaning: meanings[code] })),
    ...(runs ? Object.entries(runMeanings).map(([code, meaning]) => ({ status: 500, code, meaning: `${meaning}; run_id is given` })) : []),
  ];
  const byStatus = Map.groupBy(told, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, each]) => [
        status,
        {
          description: each.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join("; "),
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/Error" },
              example: { ok: false, error: "What went wrong, and what to do.", code: each[0]?.code },
            },
          },
        },
      ]),
  );
}
