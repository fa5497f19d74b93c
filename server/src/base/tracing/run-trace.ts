import { uuidOf } from "../ids.ts";

/**
 * Ids in the trace of a run. They are derived from the run's id. So all processes that execute a
 * part of the run or deliver its events use the same trace, and nothing has to be stored.
 */
export interface RunTraceIds {
  /** The UUID in the run's id. Its last 62 bits are random, as samplers need. */
  readonly traceId: string;
  /** Id of the span of the request that started the run. */
  readonly requestSpanId: string;
  /** Id of the span of the run's first execution. */
  readonly runSpanId: string;
}

export function runTraceIds(runId: string): RunTraceIds {
  const traceId = uuidOf(runId);
  const runSpanId = traceId.slice(16);
  // The complement of all bits gives another id. It is never zero, because `runSpanId` begins with
  // the variant bits of a UUID, which are 10.
  const requestSpanId = runSpanId.replace(/./g, (digit) =>
    (15 - Number.parseInt(digit, 16)).toString(16),
  );
  return { traceId, requestSpanId, runSpanId };
}
