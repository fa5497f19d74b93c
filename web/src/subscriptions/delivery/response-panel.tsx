import type { DeliveryDetails } from "@beckon/client";
import { BodyText } from "../../json/index.ts";
import { Duration, Pairs, Panel, Part, StatusMark } from "../../ui/index.ts";
import { NextAttempt } from "../next-attempt.tsx";
import type { DeliveryAttempt } from "../queries.ts";

interface ResponsePanelProps {
  readonly delivery: DeliveryDetails;
  readonly attempt: DeliveryAttempt | undefined;
}

/** What the receiver responded, or why there is no response. */
export function ResponsePanel({ delivery, attempt }: ResponsePanelProps) {
  return (
    <Panel title="Response">
      {attempt === undefined ? (
        <Waiting delivery={delivery} />
      ) : (
        <div className="flex min-w-0 flex-col gap-4">
          <div className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1">
            <StatusMark
              status={attempt.error === null ? "succeeded" : "failed"}
              word={attempt.status === null ? "No response" : `Status ${attempt.status}`}
            />
            <Duration ms={attempt.duration_ms} />
          </div>
          {/* An error about the status is left out, because the status is shown above. */}
          {attempt.error === null || attempt.error.includes(`status ${attempt.status}`) ? null : (
            <p className="break-words text-flare">
              <bdi>{attempt.error}</bdi>
            </p>
          )}
          {attempt.status === null ? null : (
            <>
              <Part title="Response headers">
                <Pairs pairs={Object.entries(attempt.response_headers)} />
              </Part>
              <Part title="Response body">
                {attempt.response_body === "" ? (
                  <p className="text-ink-3">Empty</p>
                ) : (
                  <>
                    <BodyText label="Response body" text={attempt.response_body} depth={4} />
                    <p className="text-label text-ink-3">The first 4 KiB are kept.</p>
                  </>
                )}
              </Part>
            </>
          )}
        </div>
      )}
    </Panel>
  );
}

function Waiting({
  delivery: { status, next_attempt_at: next },
}: Pick<ResponsePanelProps, "delivery">) {
  if (status !== "pending" || next === null) return <p className="text-ink-2">Nothing was sent.</p>;
  return (
    <p className="text-ink-2">
      The receiver has not responded yet. The attempt is <NextAttempt time={next} />.
    </p>
  );
}
