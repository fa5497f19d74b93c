import type { LimitReached, RunError, RunSource } from "@beckon/contract";
import type { Amounts } from "../../reservations/index.ts";
import type { InitialStatus } from "../journal/index.ts";

/** The caller that starts a run. */
export type Caller =
  /**
   * A caller that sent a secret. `hash` is the SHA-256 of the secret. The start statement
   * authenticates the caller.
   */
  | { readonly kind: "credential"; readonly hash: Buffer }
  /**
   * A caller that a session or a management route has already authenticated and allowed to start
   * runs of the agent.
   */
  | { readonly kind: "authenticated"; readonly principal: string; readonly workspaceId: string };

/**
 * Returns the caller if it is already authenticated; undefined if the start statement must
 * authenticate it.
 */
export function authenticated(
  caller: Caller,
): Exclude<Caller, { readonly kind: "credential" }> | undefined {
  return caller.kind === "credential" ? undefined : caller;
}

/**
 * A request to start a run. The ids are generated before the statement is sent, so that the
 * statement can be sent again without starting a second run.
 */
export interface StartRow {
  readonly runId: string;
  readonly eventId: string;
  readonly source: RunSource;
  readonly caller: Caller;
  /**
   * The agent in the request's path; null for a request to a trigger, whose token determines the
   * agent.
   */
  readonly agentId: string | null;
  /** The request's Idempotency-Key; null if the request has none. */
  readonly key: string | null;
  /**
   * SHA-256 of the body, the labels and the callback; null if the body was not read, if any of
   * them could not be read, or if the request has no Idempotency-Key.
   */
  readonly bodyHash: Buffer | null;
  readonly payload: string;
  readonly contentType: string | null;
  /**
   * State of the body. An error in the body is reported only if no earlier check rejects the
   * request.
   * - `good`: the body has no error.
   * - `bad`: the body has an error.
   * - `unhashable`: the Idempotency-Key cannot be looked up, because it is invalid or because the
   *   body, the labels or the callback could not be hashed.
   * - `unread`: the body has not been read yet, and only the credential is checked.
   */
  readonly body: "good" | "bad" | "unhashable" | "unread";
  /** Whether `owner` has reserved capacity to execute the run now. */
  readonly hasCapacity: boolean;
  /** Id of this process. If the run is created running, this process owns it. */
  readonly owner: string;
  /**
   * Properties that take precedence over the agent's current version and the trigger's settings.
   * Undefined for requests to invoke an agent or to fire a trigger, unless they create a run that
   * has already failed.
   */
  readonly details?: RunDetails | undefined;
  /** Undefined if the caller gave the run no labels. */
  readonly labels?: RunLabels | undefined;
  /** Undefined if the caller requested no callback. */
  readonly callback?: RunCallback | undefined;
  /**
   * Version of the trigger's settings with which the request was checked. If the trigger has
   * another version, the result is `reconfigured`. Default 0, the version of a trigger whose
   * settings were never changed.
   */
  readonly receivingVersion?: number | undefined;
  /** The received request that is written with the run; undefined if none is written. */
  readonly received?: ReceivedStart | undefined;
  /**
   * The sender's event whose id is bound to the run, although no received request is written with
   * it. Only with a trigger in `details`, and without `received`. Default: none.
   */
  readonly senderEvent?: SenderEvent | undefined;
  /**
   * Files of a request to a trigger, or copies of files of the run that is retried. They become
   * artifacts of the run, the former unless it is created failed. Default: none.
   */
  readonly files?: readonly (ReceivedFile | CopiedFile)[] | undefined;
  /**
   * Whether to check the limits of the caller's workspace. See `limited` in `StartResult`. Default
   * false.
   */
  readonly checksLimits?: boolean;
  /**
   * What the run's first model call can use at most, to be reserved together with the start. Only
   * with `checksLimits`. Default: nothing is reserved yet.
   */
  readonly firstCallAmounts?: Amounts | undefined;
}

/** Labels that the caller gives the run. Beckon stores them, and runs can be searched by them. */
export interface RunLabels {
  /** The caller's own id for the run; null for none. Several runs can have the same id. */
  readonly externalId: string | null;
  /** Without control characters and duplicates. */
  readonly tags: readonly string[];
}

/**
 * The URL to which the run's final event is also delivered. An enabled subscription that covers the
 * agent must have the same origin.
 */
export interface RunCallback {
  /** As `URL.href` writes it. */
  readonly url: string;
  readonly origin: string;
}

/** An event of a trigger's sender, and for how many days its id is bound to its run. */
export type SenderEvent = Pick<ReceivedStart, "eventId" | "eventIdDays">;

/**
 * A received request as input of the start statement. The statement stores it together with its
 * run, or without a run if the filter rejects it.
 */
export interface ReceivedStart {
  readonly requestId: string;
  /**
   * The sender's id of the event; null if it is unknown. If an earlier request of the trigger had
   * the same id, the result is `repeated`.
   */
  readonly eventId: string | null;
  readonly eventIdDays: number;
  readonly eventType: string | null;
  /** Whether the run is created `waiting` while the agent is paused or a limit is spent. */
  readonly holds: boolean;
  /** Whether the result is `swallowed`, and not an error, if the trigger is disabled. */
  readonly swallows: boolean;
  /** Whether the trigger's filter rejects the request. If so, no run is started. */
  readonly isFiltered: boolean;
  /** The received request that this one replays; null if this request arrived from outside. */
  readonly replayOf: string | null;
  readonly address: string | null;
  readonly contentEncoding: string | null;
  readonly query: string | null;
  /** As JSON, without credentials. */
  readonly headers: string;
  /** As it was received. */
  readonly body: Buffer;
}

/** A file of a request to a trigger. */
export interface ReceivedFile {
  readonly id: string;
  readonly mediaType: string;
  readonly content: Buffer;
}

/**
 * A copy of an artifact of the run that is retried. It is written also if the run is created
 * failed, because no received request is stored from which a replay could write it again.
 */
export interface CopiedFile {
  readonly id: string;
  readonly copyOf: string;
  readonly bytes: number;
}

/** Returns the bytes of the received body and of the files that are written with the run. */
export function contentBytes({ received, files = [] }: Pick<StartRow, "received" | "files">) {
  return files.reduce(
    (bytes, file) => bytes + ("copyOf" in file ? file.bytes : file.content.length),
    received?.body.length ?? 0,
  );
}

/** Properties of a run that the server determines itself, as it does for a retry. */
export interface RunDetails {
  /** The agent's version; null for the current version. */
  readonly version: number | null;
  /** The trigger's id; null for the trigger to which the caller's token belongs. */
  readonly triggerId: string | null;
  /** The prompt prefix; null for that of the trigger to which the caller's token belongs. */
  readonly promptPrefix: string | null;
  readonly retryOf: string | null;
  /**
   * The run's own configuration, if it does not use the one of the agent's version. It is stored
   * with the run. The run's source must be `draft`.
   */
  readonly draft?: RunDraft | undefined;
  /**
   * Scope within which the Idempotency-Key is unique. If it is null, the scope is the trigger or,
   * without a trigger, the agent.
   */
  readonly keyScope: string | null;
  /**
   * Audit entry that the start statement also writes, with the new run as its target; null for
   * none.
   */
  readonly audit: {
    readonly id: string;
    readonly address: string | null;
    readonly action: string;
    readonly data: string;
  } | null;
  /**
   * State in which the run is created.
   * - `ready`: the run is running, queued or, because of `received`, waiting.
   * - An error: the run has already failed with this error. The Idempotency-Key is bound to the run
   *   only if `bindsKey` is true.
   */
  readonly initial: "ready" | InitialFailure;
}

/** Returns the given details. Those that are not given are null, and `initial` is `ready`. */
export function runDetails(given: Partial<RunDetails>): RunDetails {
  return {
    version: null,
    triggerId: null,
    promptPrefix: null,
    retryOf: null,
    keyScope: null,
    audit: null,
    initial: "ready",
    ...given,
  };
}

/** The error of a run that is created in the state `failed`, and the limit that it has reached. */
export interface InitialFailure extends RunError {
  readonly limit?: LimitReached;
  readonly bindsKey?: boolean;
}

/** The configuration of a draft run. */
export interface RunDraft {
  /** An `AgentConfig` as JSON. */
  readonly config: string;
  /** The provider of its model; null unless the workspace configured it. */
  readonly providerId: string | null;
}

/** Reasons for which a start is rejected. */
export type StartRejection =
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "idempotency_mismatch"
  /** Only for requests with `details`. For other requests a deleted agent is `not_found`. */
  | "agent_deleted"
  | "agent_paused"
  | "trigger_disabled"
  | "empty"
  | "callback_not_allowed"
  | "callback_unknown"
  /** The run from which a retry copies files was deleted after the retry had read it. */
  | "original_deleted"
  | "agent_busy"
  /** The trigger holds as many runs as it can. */
  | "held_full"
  /**
   * No earlier check has rejected the request. The caller must now report the error in the
   * Idempotency-Key or the body or, if the body is `unread`, read the body.
   */
  | "body";

/** A run that the start statement has written. */
export interface CreatedRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  /**
   * Text that changes whenever the agent's provider is changed; null if the agent uses no provider
   * that the workspace configured.
   */
  readonly providerStamp: string | null;
  readonly triggerId: string | null;
  readonly promptPrefix: string;
  /**
   * Status in which the run was created. If it is `running`, the process that sent the request owns
   * the run.
   */
  readonly status: InitialStatus;
  /** Whether the workspace has a limit of money or usage. */
  readonly limited: boolean;
  /** Whether `firstCallAmounts` of the row was reserved. */
  readonly firstCallReserved: boolean;
  /** Whether an amount of cost or tokens restricts the reserved call. */
  readonly firstCallRestricted: boolean;
}

/** The result of one request. */
export type StartResult =
  | { readonly kind: "started"; readonly run: CreatedRun }
  /** An earlier request with the same Idempotency-Key started this run. */
  | {
      readonly kind: "replay";
      readonly runId: string;
      readonly workspaceId: string;
      readonly agentId: string;
    }
  /**
   * A concurrent request bound the same Idempotency-Key or event id first, so this request must be
   * sent again.
   */
  | { readonly kind: "contended" }
  /**
   * An earlier request had the same event id and started this run. The run may no longer exist.
   */
  | {
      readonly kind: "repeated";
      readonly runId: string;
      readonly workspaceId: string;
      readonly agentId: string;
    }
  /** The trigger's filter rejected the request: it was written, but no run was started. */
  | { readonly kind: "filtered" }
  /**
   * A member asked to capture the trigger's next request as a sample, and this is that request. It
   * starts no run, and nothing was written.
   */
  | { readonly kind: "listening" }
  /** The trigger is disabled, and its settings hide this from the sender. Nothing was written. */
  | { readonly kind: "swallowed" }
  /** The trigger has other settings than those with which the request was checked. */
  | { readonly kind: "reconfigured" }
  /**
   * The workspace has limits, and the request was sent without `checksLimits`. The request must be
   * sent again with `checksLimits`.
   */
  | { readonly kind: "limited" }
  /**
   * A limit is spent, and no check that takes precedence has rejected the request. The caller of
   * `startRuns` rejects the request, or submits the row again with the limit in `details`: this
   * creates a run that has already failed, so that the rejection is stored.
   */
  | {
      readonly kind: "limit_reached";
      readonly limit: LimitReached;
      readonly triggerId: string | null;
      readonly promptPrefix: string;
    }
  /** The agent is paused, because its ceiling is reached. `limit` is this ceiling. */
  | { readonly kind: "limit_paused"; readonly limit: LimitReached }
  | { readonly kind: "body"; readonly workspaceId: string }
  | { readonly kind: Exclude<StartRejection, "body"> };

/** Returns a string that identifies the caller. */
export function callerId(caller: Caller): string {
  return caller.kind === "credential"
    ? caller.hash.toString("latin1")
    : `${caller.workspaceId} ${caller.principal}`;
}

/** Returns the error of a run that is created in the state `failed`; undefined for other runs. */
export function initialError({ initial }: RunDetails): InitialFailure | undefined {
  return typeof initial === "string" ? undefined : initial;
}
