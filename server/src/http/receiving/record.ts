import { ApiError, messageOf } from "../../base/errors.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import type { ReceivedRequestRow, SettingsCheck } from "../../received/index.ts";
import { TriggerReconfigured } from "../../runs/index.ts";
import type { Services } from "../services.ts";

/**
 * Records a request whose outcome was decided by the trigger's settings alone, such as a request
 * with a wrong signature. Does not record it if the settings have changed since they were read.
 * @throws TriggerReconfigured if the settings have changed; ApiError `unauthorized` if the token is
 *   no longer valid; `unavailable`
 */
export async function confirmAndRecord(
  { recorder }: Pick<Services, "recorder">,
  check: SettingsCheck,
  request: ReceivedRequestRow,
): Promise<void> {
  const result = await recorder.record({ request, check });
  if (result === "unauthorized") throw new ApiError("unauthorized", unauthorizedMessage);
  if (result === "reconfigured") throw new TriggerReconfigured();
}

/**
 * Records a request whose outcome was decided by the SQL statement that starts a run. If the
 * recording fails, the response stays the same: only the entry in the list of received requests is
 * missing.
 */
export async function recordDecided(
  { recorder, log }: Pick<Services, "recorder" | "log">,
  request: ReceivedRequestRow,
): Promise<void> {
  try {
    await recorder.record({ request, check: undefined });
  } catch (thrown) {
    log.write("a received request could not be recorded", {
      trigger_id: request.triggerId,
      reason: messageOf(thrown),
    });
  }
}
