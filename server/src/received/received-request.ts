import type { RequestOutcome } from "@beckon/contract";

/** The stored form of a request that starts no run. */
export interface ReceivedRequestRow {
  readonly requestId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly triggerId: string;
  readonly outcome: RequestOutcome;
  /** Why there is no run; null if the outcome alone says why. */
  readonly error: string | null;
  readonly eventId: string | null;
  readonly eventType: string | null;
  /** The run that an earlier request with the same event id or Idempotency-Key has started. */
  readonly runId: string | null;
  readonly address: string | null;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Size of the body as it was received, in bytes. */
  readonly size: number;
  /**
   * `query`, `headers` (JSON) and `body` are null if the request was not verified. `body` is also
   * null if there is a `runId`, because the earlier request was stored with its body.
   */
  readonly query: string | null;
  readonly headers: string | null;
  readonly body: Buffer | null;
}

/**
 * The token and the version of the settings with which an outcome was decided. If the token is no
 * longer valid, or the settings have another version, the request is not stored.
 */
export interface SettingsCheck {
  readonly tokenHash: Buffer;
  readonly version: number;
}

/**
 * Whether an outcome still applies. It no longer applies if the token has become invalid
 * (`unauthorized`), or if the trigger's settings have changed since the outcome was decided
 * (`reconfigured`).
 */
export type SettingsCheckResult = "valid" | "unauthorized" | "reconfigured";
