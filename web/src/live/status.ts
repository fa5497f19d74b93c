/** Whether changes reach the page as they happen. */
export interface LiveStatus {
  readonly state: "connecting" | "live" | "reconnecting" | "not live";
  /** Unix time in ms of the last byte from the server; undefined before the first. */
  readonly asOf: number | undefined;
  /** Why the stream ended, if the server rejected it. */
  readonly reason?: string | undefined;
}

/** The server sends a byte at least every 15 seconds. */
const reconnectingAfterMs = 20_000;
const notLiveAfterMs = 45_000;

/** What is known about the connection. Times are Unix times in ms. */
export interface Connection {
  readonly startedAt: number;
  readonly lastByteAt: number | undefined;
  /** Set if the stream has ended and does not reconnect by itself. */
  readonly ended?: { readonly reason: string } | undefined;
}

/** Returns the status to show. It depends on bytes only, because a dead connection looks open. */
export function statusOf({ startedAt, lastByteAt, ended }: Connection, now: number): LiveStatus {
  const asOf = lastByteAt;
  if (ended !== undefined) return { state: "not live", asOf, reason: ended.reason };
  const silentMs = now - (lastByteAt ?? startedAt);
  if (silentMs >= notLiveAfterMs) return { state: "not live", asOf };
  if (lastByteAt === undefined)
    return { state: silentMs >= reconnectingAfterMs ? "reconnecting" : "connecting", asOf };
  return { state: silentMs >= reconnectingAfterMs ? "reconnecting" : "live", asOf };
}
