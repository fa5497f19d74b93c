import type { WatchedEvent } from "@beckon/client";
import { parseExactly } from "../json/index.ts";
import type { SentEvent } from "./protocol.ts";

/** Returns the event with all digits of its integers. */
export function exactEvent(event: SentEvent): WatchedEvent {
  return event.json === undefined ? event : (parseExactly(event.json) as WatchedEvent);
}
