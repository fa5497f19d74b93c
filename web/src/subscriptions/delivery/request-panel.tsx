import type { DeliveryDetails } from "@beckon/client";
import { formatBytes } from "../../format/index.ts";
import { BodyText } from "../../json/index.ts";
import { Pairs, Panel, Part } from "../../ui/index.ts";
import type { DeliveryAttempt } from "../queries.ts";
import { whyNoBody } from "./delivery-words.ts";

interface RequestPanelProps {
  readonly delivery: DeliveryDetails;
  /** The attempt that is shown; undefined before the first one. */
  readonly attempt: DeliveryAttempt | undefined;
}

const encoder = new TextEncoder();

/**
 * The request of an attempt. The API does not store bodies: it builds the body when the delivery is
 * read, from the event and the current settings of the subscription.
 */
export function RequestPanel({ delivery, attempt }: RequestPanelProps) {
  const { body } = delivery;
  const url = attempt?.url ?? delivery.url;
  return (
    <Panel title="Request">
      <div className="flex min-w-0 flex-col gap-4">
        <p className="font-mono text-dense break-all">
          <span className="font-semibold">POST</span> {url}
        </p>
        {attempt === undefined ? null : (
          <Part title="Request headers">
            <Pairs pairs={Object.entries(attempt.request_headers)} />
            <p className="text-label text-ink-3">
              The signature and the extra headers were sent as well. They are secret.
            </p>
          </Part>
        )}
        <Part
          title="Request body"
          aside={
            body === null ? undefined : (
              <span className="font-mono text-label text-ink-3">
                {formatBytes(encoder.encode(body).length)}
              </span>
            )
          }
        >
          {body === null ? (
            <p className="text-ink-2">{whyNoBody(delivery)}</p>
          ) : (
            <BodyText
              label="Request body"
              text={body}
              depth={4}
              fileName={`${delivery.event_id}.json`}
            />
          )}
          {body === null || attempt === undefined ? null : (
            <p className="text-label text-ink-3">
              Built from the current settings of the subscription. An earlier attempt can have sent
              a different body.
            </p>
          )}
        </Part>
      </div>
    </Panel>
  );
}
