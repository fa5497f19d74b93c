export { newIdempotencyKey } from "./call.ts";
export { type BeckonClient, createClient } from "./client.ts";
export { BeckonError, type BeckonErrorCode, type ClientCode } from "./error.ts";
export type { FiredRun } from "./fire.ts";
// Exports all generated types. A list of their names would have to change whenever the API gets a
// new type.
export type * from "./generated/event-data.ts";
export type * from "./generated/schemas.ts";
export type { Invoked, InvokeOptions, StartedRun, StartOptions } from "./invoke.ts";
export type { Listing, Page } from "./listing.ts";
export type { CallOptions, ClientOptions, LabelOptions, OnceOptions } from "./options.ts";
export { isCertificateError } from "./retry.ts";
export type { StartAndWatchOptions, WatchedRun } from "./start-and-watch.ts";
export type { FollowOptions } from "./subscribe.ts";
export type { WatchOptions } from "./watch.ts";
export type { WatchEventsOptions, WatchEventsQuery } from "./watch-events.ts";
export {
  isFinalEvent,
  type JournalEvent,
  type OutputEvent,
  type StreamNotice,
  type WatchedEvent,
  type WorkspaceEvent,
} from "./watched-event.ts";
