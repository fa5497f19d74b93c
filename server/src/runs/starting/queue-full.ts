import { ApiError } from "../../base/errors.ts";

/** Seconds after which a refused caller may try again. */
const retryAfter = 5;

/** @param limit How many runs of the agent may be queued, where that is known. */
export function queueFull(limit: number | undefined): ApiError {
  return new ApiError(
    "agent_busy",
    "This agent has as many queued runs as its limit allows. Try again later.",
    {
      retryAfter,
      limit:
        limit === undefined
          ? undefined
          : {
              policy: "queued-runs",
              quota: limit,
              unit: "concurrent-requests",
              remaining: 0,
              resetSeconds: retryAfter,
            },
    },
  );
}
