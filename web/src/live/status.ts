/** The status of live updates. */
export interface LiveStatus {
  readonly state: "connecting" | "live" | "reconnecting" | "not live";
  /** Unix time in ms of the last byte from the server; undefined before the first. */
  readonly asOf: number | undefined;
  /** Why the stream has ended; undefined if it has not ended. */
  readonly reason?: string | undefined;
}

/**
 * Time without a byte after which the connection is shown as `reconnecting`, then as `not live`.
 * The server sends a byte at least every 15 seconds.
 */
export const reconnectingAfterMs = 20_000;
const notLiveAfterMs = 45_000;

/** The state of the connection. Times are Unix times in ms. */
export interface Connection {
  /** When the stream was opened last. */
  readonly openedAt: number;
  /** When the last byte of this or an earlier stream arrived; undefined before the first. */
  readonly lastByteAt: number | undefined;
  /** True from the moment at which the connection was closed or could not be made. */
  readonly isLost?: boolean | undefined;
  /**
   * Set if the stream has ended: the server has rejected it or was away for five minutes, or
   * another stream needs its connection.
   */
  readonly ended?: { readonly reason: string } | undefined;
}

/**
 * Returns the status to show. If the connection is closed, the page notices at once. A connection
 * that is lost without being closed still looks open. Only the time since the last byte then shows
 * that it is lost.
 */
export function statusOf(connection: Connection, now: number): LiveStatus {
  const { openedAt, lastByteAt, isLost = false, ended } = connection;
  const asOf = lastByteAt;
  if (ended !== undefined) return { state: "not live", asOf, reason: ended.reason };
  const silentMs = now - Math.max(openedAt, lastByteAt ?? openedAt);
  if (silentMs >= notLiveAfterMs) return { state: "not live", asOf };
  const isSilent = silentMs >= reconnectingAfterMs;
  // A stream that was opened again has not sent a byte yet, although an earlier one has.
  const isReopened = lastByteAt !== undefined && lastByteAt < openedAt;
  if (isLost || isSilent || isReopened) return { state: "reconnecting", asOf };
  return { state: lastByteAt === undefined ? "connecting" : "live", asOf };
}
