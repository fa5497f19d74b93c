import { elapsed } from "../base/clock.ts";
import {
  createBatcher,
  type Database,
  databaseUnavailable,
  SubmitTimeoutError,
} from "../base/database/index.ts";
import { createFullCounts } from "./full-counts.ts";
import type { SettingsCheckResult } from "./received-request.ts";
import {
  type RecordResult,
  type RecordRow,
  recordStatement,
  type SentRow,
} from "./record-statement.ts";

/**
 * Records requests that start no run. Requests that arrive at the same time share one statement.
 */
export interface Recorder {
  /**
   * Records a request. Per trigger, outcome and minute, only the first requests are stored; the
   * others are only counted. Verified and unverified requests that were rejected count separately.
   * @returns `valid` if the request was stored or only counted. `unauthorized` if the trigger's
   *   token is no longer valid, and `reconfigured` if the settings have changed since the outcome
   *   was decided: the request is then neither stored nor counted.
   * @throws ApiError `unavailable` if the database does not reply in time.
   */
  record(row: RecordRow): Promise<SettingsCheckResult>;
}

const waitMs = 5_000;

/** Creates the recorder of a process. */
export function createRecorder(database: Database): Recorder {
  // The recorder shares no mutex with other batchers, so that a flood of requests with invalid
  // signatures does not delay the start of runs.
  const fullCounts = createFullCounts();
  const batcher = createBatcher<SentRow, SettingsCheckResult>({
    write: async (rows) => {
      const sentAtMs = elapsed();
      const written = await recordStatement.send<RecordResult>(database.engine, rows);
      fullCounts.note(rows, written.rows, sentAtMs);
      return written.rows.map(({ result }) => result);
    },
    order: ({ request }) => `${request.triggerId} ${request.outcome}`,
    bytes: ({ request }) => request.body?.length ?? 0,
    maxRows: 200,
    maxBytes: 8 * 1024 * 1024,
  });
  return {
    async record(row) {
      try {
        return await batcher.submit(fullCounts.toSend(row), { waitMs });
      } catch (thrown) {
        throw thrown instanceof SubmitTimeoutError ? databaseUnavailable(thrown) : thrown;
      }
    },
  };
}
