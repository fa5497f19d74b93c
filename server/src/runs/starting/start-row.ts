import type { RunError, RunSource } from "@beckon/contract";
import type { InitialStatus } from "../journal/index.ts";

/** The caller that starts a run. */
export type Caller =
  /** Sent a secret, of which `hash` is the SHA-256. The start statement authenticates it. */
  | { readonly kind: "credential"; readonly hash: Buffer }
  /**
   * Already authenticated and allowed to start runs of the agent, by a session or a management
   * route.
   */
  | { readonly kind: "member"; readonly principal: string; readonly workspaceId: string };

/** Returns the caller if it is already authenticated; undefined if the statement must do so. */
export function authenticated(
  caller: Caller,
): Exclude<Caller, { readonly kind: "credential" }> | undefined {
  return caller.kind === "credential" ? undefined : caller;
}

/** A request to start a run. Its ids are generated first, so that the statement can be repeated. */
export interface StartRow {
  readonly runId: string;
  readonly eventId: string;
  readonly source: RunSource;
  readonly caller: Caller;
  /** The agent named in the path; null for a trigger, whose token determines the agent. */
  readonly agentId: string | null;
  /** The Idempotency-Key. */
  readonly key: string | null;
  /** SHA-256 of the raw body; null if the body was not read, or could not be read. */
  readonly bodyHash: Buffer | null;
  readonly payload: string;
  readonly contentType: string | null;
  /**
   * State of the body. An error in the body is reported only if no earlier check rejects the
   * request. `unread`: only the credential is checked. `unhashable`: the Idempotency-Key cannot be
   * looked up.
   */
  readonly body: "good" | "bad" | "unhashable" | "unread";
  /** Whether `owner` has reserved capacity to execute the run now. */
  readonly hasCapacity: boolean;
  /** This process, which then owns the run. */
  readonly owner: string;
  /** Overrides the agent's current version and the trigger's settings. */
  readonly details?: RunDetails | undefined;
}

/** Properties of a run that the server sets itself, as for a retry. */
export interface RunDetails {
  /** The agent's version; null: the current one. */
  readonly version: number | null;
  readonly triggerId: string | null;
  readonly promptPrefix: string;
  readonly retryOf: string | null;
  /** Scope of the Idempotency-Key; null: the trigger, or the agent if there is none. */
  readonly keyScope: string | null;
  /** Audit entry to write in the same statement; its target is the run. */
  readonly audit: {
    readonly id: string;
    readonly address: string | null;
    readonly action: string;
    readonly data: string;
  } | null;
  /**
   * `ready`: running or queued. `waiting`: not claimed until it is queued. An error: created
   * already failed, and no Idempotency-Key is bound. The last two are not used yet.
   */
  readonly initial: "ready" | "waiting" | RunError;
}

/** Reasons for which a start is rejected. */
export type StartRejection =
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "idempotency_mismatch"
  /** Only for callers with `details`: for others a deleted agent does not exist. */
  | "agent_deleted"
  | "agent_paused"
  | "trigger_disabled"
  | "empty"
  | "agent_busy"
  /** The error in the body must be reported. */
  | "body";

export interface StartedRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  /**
   * Changes with every change of the agent's provider; null: it uses no provider of the workspace.
   */
  readonly providerStamp: string | null;
  readonly triggerId: string | null;
  readonly promptPrefix: string;
  /** `running`: owned by the process that sent the request. */
  readonly status: InitialStatus;
}

/** The result of one request. */
export type StartResult =
  | { readonly kind: "started"; readonly run: StartedRun }
  /** The Idempotency-Key is bound to this earlier run. */
  | {
      readonly kind: "replay";
      readonly runId: string;
      readonly workspaceId: string;
      readonly agentId: string;
    }
  /** A concurrent request bound the same key first. Send the request again. */
  | { readonly kind: "contended" }
  | { readonly kind: StartRejection };

/** Returns a string that is unique for each caller. */
export function callerId(caller: Caller): string {
  return caller.kind === "credential"
    ? caller.hash.toString("latin1")
    : `${caller.workspaceId} ${caller.principal}`;
}

/** Returns the error of a run that is created already failed; undefined for other runs. */
export function initialError({ initial }: RunDetails): RunError | undefined {
  return typeof initial === "string" ? undefined : initial;
}
