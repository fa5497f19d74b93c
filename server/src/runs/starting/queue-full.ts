import { ApiError } from "../../base/errors.ts";

const retryAfterSeconds = 5;

/**
 * Returns the error for a request to start a run that is rejected because of the agent's queue
 * limit.
 * @param limit the agent's maximum number of queued runs; undefined if it could not be read.
 */
export function queueFull(limit: number | undefined): ApiError {
  return new ApiError(
    "agent_busy",
    "This agent has as many queued runs as its limit allows. Try again later.",
    {
      retryAfter: retryAfterSeconds,
      rateLimit:
        limit === undefined
          ? undefined
          : {
              policy: "queued-runs",
              quota: limit,
              unit: "concurrent-requests",
              remaining: 0,
              resetSeconds: retryAfterSeconds,
            },
    },
  );
}
