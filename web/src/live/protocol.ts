import type { StreamNotice, WatchedEvent, WorkspaceEvent } from "@beckon/client";
import type { LiveStatus } from "./status.ts";

/** What a tab sends to the hub. */
export type TabMessage =
  /** First message of a tab. A hub serves one person: another one ends everybody else's streams. */
  | { readonly type: "hello"; readonly userId: string }
  /** The tab is closed or hidden for good. */
  | { readonly type: "bye" }
  | { readonly type: "retry" }
  | { readonly type: "watch run"; readonly runId: string; readonly after: number }
  | { readonly type: "unwatch run"; readonly runId: string };

/** What the hub sends to a tab. */
export type HubMessage =
  /** Response to `hello`. The tab then names the runs that it shows. */
  | { readonly type: "joined" }
  | { readonly type: "status"; readonly status: LiveStatus }
  | { readonly type: "event"; readonly event: WorkspaceEvent | StreamNotice }
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
