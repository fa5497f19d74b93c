import type { DeliveryFormat, DeliveryKind, PayloadStyle } from "@beckon/contract";
import { parseJsonColumn } from "../base/json/index.ts";

/** The columns of a delivery's row from which its body is built. */
export interface DeliveredRow {
  readonly kind: DeliveryKind;
  readonly workspace_id: string;
  readonly subscription_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly version: number;
  readonly time: Date;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly seq: number | null;
  /**
   * The event's data. Above 64 KiB, a reference to the artifact that has all of it replaces its
   * large fields. null after the event's run was deleted, or if no attempt has needed it yet: a
   * delivery is stored without data if the subscription is not enabled or its payload is `thin`
   * (events without data).
   */
  readonly data: Readonly<Record<string, unknown>> | null;
}

/** The settings of a subscription, and of Beckon, on which a body depends. */
export interface BodyOptions {
  readonly format: DeliveryFormat;
  readonly payload: PayloadStyle;
  /** URL at which clients reach Beckon, without a trailing slash. */
  readonly publicUrl: string;
}

/** The body of a request to a receiver. */
export interface DeliveryBody {
  readonly contentType: string;
  readonly text: string;
}

/** Maximum size of a body, in bytes. */
export const maxBodyBytes = 256 * 1024;

/**
 * Builds the body of a delivery. The same row and options always give the same bytes.
 *
 * The format `standard` is that of Standard Webhooks. The format `cloudevents` is the structured
 * mode of CloudEvents 1.0. The field `data` is the same in both.
 *
 * @param content the event's whole data as JSON, if the row has a reference to it. It replaces the
 *   row's data if the body then has at most 256 KiB.
 */
export function deliveryBody(
  row: DeliveredRow,
  options: BodyOptions,
  content?: string,
): DeliveryBody {
  const withReference = write(row, options, row.data);
  if (content === undefined || options.payload === "thin") return withReference;
  const whole = write(row, options, parseEventData(content));
  return Buffer.byteLength(whole.text) <= maxBodyBytes ? whole : withReference;
}

/**
 * Returns the id and size of the artifact that has the event's data, if the data was too large to
 * be stored in the event; else undefined.
 */
export function artifactOf({
  run_id,
  data,
}: Pick<DeliveredRow, "run_id" | "data">): { id: string; bytes: number } | undefined {
  if (run_id === null || data === null) return undefined;
  const { artifact_id: id, bytes } = data;
  return typeof id === "string" && typeof bytes === "number" ? { id, bytes } : undefined;
}

/** Returns the data of an event, from a `jsonb` column that was read as text. */
export function parseEventData(json: string | null): DeliveredRow["data"] {
  return json === null ? null : parseJsonColumn(json);
}

function write(
  row: DeliveredRow,
  { format, payload, publicUrl }: BodyOptions,
  eventData: unknown,
): DeliveryBody {
  const time = row.time.toISOString();
  const data = {
    event_id: row.event_id,
    workspace_id: row.workspace_id,
    subscription_id: row.subscription_id,
    agent_id: row.agent_id,
    run_id: row.run_id,
    seq: row.seq,
    version: row.version,
    url: resourceUrl(row, publicUrl),
    ...(row.kind === "test" ? { test: true } : {}),
    // The data is null, for example, after the event's run was deleted: see `DeliveredRow`.
    ...(payload === "thin" || eventData === null ? {} : { payload: eventData }),
  };
  if (format === "standard")
    return {
      contentType: "application/json",
      text: JSON.stringify({ type: row.type, timestamp: time, data }),
    };
  const subject = row.run_id ?? row.agent_id;
  return {
    contentType: "application/cloudevents+json",
    text: JSON.stringify({
      specversion: "1.0",
      id: row.event_id,
      source: `/workspaces/${row.workspace_id}`,
      type: `beckon.${row.type}`,
      // CloudEvents does not allow an empty subject.
      ...(subject === null ? {} : { subject }),
      time,
      datacontenttype: "application/json",
      data,
    }),
  };
}

/**
 * Returns the URL at which the receiver can read the event; null for a test, because its event is
 * not stored.
 */
function resourceUrl(row: DeliveredRow, publicUrl: string): string | null {
  if (row.kind === "test") return null;
  const path =
    row.run_id === null ? `events/${row.event_id}` : `runs/${row.run_id}/events/${row.seq}`;
  return `${publicUrl}/api/public/${path}`;
}
