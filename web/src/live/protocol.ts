import type { BeckonError, StreamNotice, WatchedEvent, WorkspaceEvent } from "@beckon/client";
import type { LiveStatus } from "./status.ts";

/** A run to start, so that the response to the start is its stream. */
export interface RunStart {
  /** Names the start in the response. Unique in its tab. */
  readonly startId: number;
  readonly agentId: string;
  readonly input: string;
  readonly idempotencyKey: string;
}

/** The fields of a BeckonError, which loses its class on the way between worker and tab. */
export type SentError = Pick<BeckonError, "code" | "message" | "status" | "runId" | "retryAfter">;

/** What a tab sends to the hub. */
export type TabMessage =
  /** First message of a tab. A hub serves one person: another one ends everybody else's streams. */
  | { readonly type: "hello"; readonly userId: string }
  /** The tab is closed or hidden for good. */
  | { readonly type: "bye" }
  | { readonly type: "retry" }
  | ({ readonly type: "start run" } & RunStart)
  | { readonly type: "watch run"; readonly runId: string; readonly after: number }
  | { readonly type: "unwatch run"; readonly runId: string };

/** What the hub sends to a tab. */
export type HubMessage =
  /** Response to `hello`. The tab then names the runs that it shows. */
  | { readonly type: "joined" }
  | { readonly type: "status"; readonly status: LiveStatus }
  | { readonly type: "event"; readonly event: WorkspaceEvent | StreamNotice }
  /** The events of the run wait until the tab watches it. */
  | { readonly type: "run started"; readonly startId: number; readonly runId: string }
  | { readonly type: "run not started"; readonly startId: number; readonly error: SentError }
  | { readonly type: "run event"; readonly runId: string; readonly event: WatchedEvent }
  | { readonly type: "run state"; readonly runId: string; readonly state: RunStreamState }
  /** The session has ended, or the person is another one. */
  | { readonly type: "signed out" };

/** The hub's side of a connection to a tab. */
export interface Tab {
  readonly send: (message: HubMessage) => void;
}

/**
 * State of a run's stream. `replaced`: other runs are watched instead, because there are at most
 * three run streams. `failed`: the server rejected it, or could not be reached for five minutes.
 */
export type RunStreamState = "connecting" | "live" | "ended" | "replaced" | "failed";
