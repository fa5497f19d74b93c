import type { RunError, RunSource } from "@beckon/contract";
import type { InitialStatus } from "../journal/index.ts";

/** Who asks for a run. */
export type Caller =
  /** By a secret: the statement finds out whose it is and whether it is valid. */
  | {
      readonly kind: "credential" /** SHA-256, whatever kind of secret it is. */;
      readonly hash: Buffer;
    }
  /** Authenticated already, with the right to start runs of the agent: by a session, or by a management route. */
  | { readonly kind: "member"; readonly principal: string; readonly workspaceId: string };

/** Returns the caller if its right to start runs is known already; else the statement finds out. */
export function authenticated(
  caller: Caller,
): Exclude<Caller, { readonly kind: "credential" }> | undefined {
  return caller.kind === "credential" ? undefined : caller;
}

/** One request to start a run. Ids are made before, so that a statement can be sent again unchanged. */
export interface StartRow {
  readonly runId: string;
  readonly eventId: string;
  readonly source: RunSource;
  readonly caller: Caller;
  /** The agent named in the path; a trigger's token has one of its own. */
  readonly agentId: string | null;
  readonly key: string | null;
  /** SHA-256 of the raw body; null while the body is not read, or could not be. */
  readonly bodyHash: Buffer | null;
  readonly payload: string;
  readonly contentType: string | null;
  /**
   * What is known of the body. A fault of the body is answered only when nothing before it rejects the request.
   * `unread`: only the credential is checked. `unhashable`: an Idempotency-Key cannot be looked up.
   */
  readonly body: "good" | "bad" | "unhashable" | "unread";
  /** Whether this process has capacity to execute it now. */
  readonly hasCapacity: boolean;
  /** The process that would. */
  readonly owner: string;
  /** What the server itself decides about the run, instead of the agent's current version and the trigger. */
  readonly details?: RunDetails | undefined;
}

/** A run that the server describes: a retry has all but `initial`. */
export interface RunDetails {
  /** The agent's version; null: the current one. */
  readonly version: number | null;
  readonly triggerId: string | null;
  readonly promptPrefix: string;
  readonly retryOf: string | null;
  /** Scope of the Idempotency-Key; null: the trigger or the agent. */
  readonly keyScope: string | null;
  /** Written to the audit log in the same statement; the target is the run. */
  readonly audit: {
    readonly id: string;
    readonly address: string | null;
    readonly action: string;
    readonly data: string;
  } | null;
  /**
   * `waiting`: held until it is released. An error: created already failed, and no Idempotency-Key
   * is bound. Both are reserved: nothing asks for them yet.
   */
  readonly initial: "ready" | "waiting" | RunError;
}

export type Refused =
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "idempotency_mismatch"
  /** Only a caller with `details` gets this: others do not see deleted agents. */
  | "agent_deleted"
  | "agent_paused"
  | "trigger_disabled"
  | "empty"
  | "agent_busy"
  /** The fault of the body comes next. */
  | "body";

export interface StartedRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  /** Changes with every change of the agent's provider; null: it has none of the workspace's. */
  readonly providerStamp: string | null;
  readonly triggerId: string | null;
  readonly promptPrefix: string;
  /** `running`: owned by the process that asked. */
  readonly status: InitialStatus;
}

export type StartAnswer =
  | { readonly verdict: "started"; readonly run: StartedRun }
  /** An earlier run has the key: it is the answer. */
  | {
      readonly verdict: "replay";
      readonly runId: string;
      readonly workspaceId: string;
      readonly agentId: string;
    }
  /** Neither rejected nor written: a request with the same key was written at the same moment. Ask again. */
  | { readonly verdict: "contended" }
  | { readonly verdict: Refused };

/** Tells callers apart. */
export function callerId(caller: Caller): string {
  return caller.kind === "credential"
    ? caller.hash.toString("latin1")
    : `${caller.workspaceId} ${caller.principal}`;
}

/** The error that a run is created with, already failed. */
export function initialError({ initial }: RunDetails): RunError | undefined {
  return typeof initial === "string" ? undefined : initial;
}
