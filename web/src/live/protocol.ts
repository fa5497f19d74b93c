import type { BeckonError, StreamNotice, WatchedEvent, WorkspaceEvent } from "@beckon/client";
import type { LiveStatus } from "./status.ts";

/** A run to start. The response to the start is the stream of the run. */
export interface RunStart {
  /** Identifies the start in the hub's response. Unique within its tab. */
  readonly startId: number;
  readonly agentId: string;
  readonly input: string;
  readonly idempotencyKey: string;
}

/**
 * The fields of a BeckonError, from which the tab creates the error again. The error itself cannot
 * be sent: an object in a message between worker and tab loses its class.
 */
export type SentError = Pick<BeckonError, "code" | "message" | "status" | "runId" | "retryAfter">;

/** What a tab sends to the hub, which holds the streams of a workspace for all tabs (hub.ts). */
export type TabMessage =
  /**
   * The first message of a tab. The hubs serve one person: the first tab of another person ends
   * the streams of all other tabs, in all workspaces.
   */
  | {
      readonly type: "hello";
      readonly workspaceId: string;
      readonly userId: string;
      /** Whether the tab is in the background. If so, no other stream is closed to open its own. */
      readonly isHidden: boolean;
    }
  /** The tab is being closed, or is hidden, and needs no more messages. */
  | { readonly type: "bye" }
  /** The workspace's stream is opened again, and so are the streams of runs that are silent. */
  | { readonly type: "retry" }
  /**
   * The tab is visible again, or the network is back: streams that are silent are opened again, and
   * so is the workspace's if it has ended. If it is open, it counts as the most recently used (see
   * stream-budget.ts).
   */
  | { readonly type: "wake" }
  | ({ readonly type: "start run" } & RunStart)
  | { readonly type: "watch run"; readonly runId: string; readonly after: number }
  | { readonly type: "unwatch run"; readonly runId: string };

/**
 * An event of a run's stream. `json` is its text, if it can have integers that `JSON.parse` has
 * rounded. An exact number cannot be sent: an object in a message loses its class.
 */
export type SentEvent = WatchedEvent & { readonly json?: string | undefined };

/** What the hub sends to a tab. */
export type HubMessage =
  /** Response to `hello`. The tab then sends `watch run` for each run that it shows. */
  | { readonly type: "joined" }
  | { readonly type: "status"; readonly status: LiveStatus }
  | { readonly type: "event"; readonly event: WorkspaceEvent | StreamNotice }
  /** Events between the last one and the stream that is now open are missing. */
  | { readonly type: "gap" }
  /** The run was started. Its events wait until the tab sends `watch run`. */
  | { readonly type: "run started"; readonly startId: number; readonly runId: string }
  | { readonly type: "run not started"; readonly startId: number; readonly error: SentError }
  | { readonly type: "run event"; readonly runId: string; readonly event: SentEvent }
  | { readonly type: "run state"; readonly runId: string; readonly state: RunStreamState }
  /**
   * The hub has removed the tab, after a 401, a sign-out or a sign-in by another person. The tab
   * sends this to itself if its SharedWorker has died (see connect.ts).
   */
  | { readonly type: "removed" };

/** The hub's side of a connection to a tab. */
export interface Tab {
  readonly send: (message: HubMessage) => void;
}

/**
 * State of a run's stream. `ended`: the run has ended. `replaced`: the stream was closed because
 * another stream was opened, and only few can be open (see stream-budget.ts). `failed`: the server
 * rejected the stream, or could not be reached for five minutes.
 */
export type RunStreamState = "connecting" | "live" | "ended" | "replaced" | "failed";
