/** Whether changes reach the page as they happen. */
export interface LiveStatus {
  readonly state: "connecting" | "live" | "reconnecting" | "not live";
  /** Unix time in ms of the last byte from the server; undefined before the first. */
  readonly asOf: number | undefined;
  /** Why the stream ended, if the server rejected it. */
  readonly reason?: string | undefined;
}

/** The server sends a byte at least every 15 seconds: a longer silence is a dead connection. */
const reconnectingAfterMs = 20_000;
const notLiveAfterMs = 45_000;

/** What is known about the connection. Times are Unix times in ms. */
export interface Connection {
  readonly startedAt: number;
  readonly lastByteAt: number | undefined;
  /** True from the moment at which the connection was closed or could not be made. */
  readonly isLost?: boolean | undefined;
  /** Set if the stream has ended and does not reconnect by itself. */
  readonly ended?: { readonly reason: string } | undefined;
}

/**
 * Returns the status to show. A closed connection is known at once; one that dies silently looks
 * open, so that then only the time since the last byte tells.
 */
export function statusOf(connection: Connection, now: number): LiveStatus {
  const { startedAt, lastByteAt, isLost = false, ended } = connection;
  const asOf = lastByteAt;
  if (ended !== undefined) return { state: "not live", asOf, reason: ended.reason };
  const silentMs = now - (lastByteAt ?? startedAt);
  if (silentMs >= notLiveAfterMs) return { state: "not live", asOf };
  if (isLost || silentMs >= reconnectingAfterMs) return { state: "reconnecting", asOf };
  return { state: lastByteAt === undefined ? "connecting" : "live", asOf };
}
