import { z } from "zod";
import {
  type EventType,
  eventData,
  type WorkspaceEventType,
  workspaceEventData,
} from "./events.ts";
import type { DeliveredEvent } from "./subscriptions.ts";

/**
 * Data with a reference to the artifact that has all of it. The reference replaces the data's large
 * fields if the data is larger than 64 KiB and would make the body larger than 256 KiB.
 */
const largeData = z
  .looseObject({ artifact_id: z.string(), bytes: z.number().int().positive() })
  .meta({
    description:
      "A large payload: the reference replaces its large fields. Get the whole payload, in JSON, at `/runs/:run_id/artifacts/:artifact_id`.",
  });

const allData = { ...eventData, ...workspaceEventData };

/** Returns the schema of the data of an event in the body of a delivery. */
function deliveredData<T extends DeliveredEvent & (EventType | WorkspaceEventType)>(type: T) {
  const isOfRun = type in eventData;
  const id = z.string();
  return z.object({
    /** The header `webhook-id`, the same at every attempt. */
    event_id: id,
    workspace_id: id,
    subscription_id: id,
    /** null if the event concerns no single agent. */
    agent_id: isOfRun ? id : id.nullable(),
    run_id: isOfRun ? id : z.null(),
    /** Counts the events of the run from 1, without gaps. */
    seq: isOfRun ? z.number().int().positive() : z.null(),
    /** Version of the event type. It increases if the meaning of the data in `payload` changes. */
    version: z.number().int().positive(),
    /** URL of the event in the API; null for a test. */
    url: z.string().nullable(),
    /** True in a test delivery, whose agent and run do not exist. Absent in real deliveries. */
    test: z.literal(true).optional(),
    /** The event's data. Absent if the subscription's `payload` is `thin`. */
    payload: z.union([allData[type], largeData]).optional(),
  });
}

/** Returns the schema of the body of a delivery in the format `standard`. */
export function standardBody(type: DeliveredEvent) {
  return z.object({
    type: z.literal(type),
    /** Time of the event. */
    timestamp: z.iso.datetime(),
    data: deliveredData(type),
  });
}

/** Returns the schema of the body of a delivery in the format `cloudevents`. */
export function cloudEventsBody(type: DeliveredEvent) {
  return z.object({
    specversion: z.literal("1.0"),
    /** The same value as `data.event_id`. */
    id: z.string(),
    /** `/workspaces/<workspace_id>`. */
    source: z.string(),
    type: z.literal(`beckon.${type}`),
    /** Id of the run, or of the agent if there is no run. Absent if there is neither. */
    subject: z.string().optional(),
    /** Time of the event. */
    time: z.iso.datetime(),
    datacontenttype: z.literal("application/json"),
    data: deliveredData(type),
  });
}
