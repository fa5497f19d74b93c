const key = Symbol("byte meter");

/**
 * Receives the number of bytes that a call sends and receives. It ends a call that exceeds its
 * limit by aborting the call's signal.
 */
export interface ByteMeter {
  /**
   * Called for each request with a body, before it is written to a connection, with the size of the
   * body in bytes; in UTF-16 code units if the body is a string.
   */
  requested?(bytes: number): void;
  /** Called when the request is written to an open connection. */
  sent(): void;
  /**
   * Called with the size of each chunk of a response body, in bytes. A call whose meter has this
   * method is not subject to the transport's `maxResponseBytes`.
   */
  received?(bytes: number): void;
}

/**
 * Attaches `meter` to every request that is made with `signal`. The signal carries the meter
 * because it is the only value that the providers' SDKs pass on to `fetch` unchanged. The meter is
 * a property of the signal: a `WeakMap` costs too much garbage collection for values this
 * short-lived.
 */
export function meterCalls(signal: AbortSignal, meter: ByteMeter): void {
  (signal as Metered)[key] = meter;
}

export function meterOf(signal: AbortSignal | undefined): ByteMeter | undefined {
  return (signal as Metered | undefined)?.[key];
}

type Metered = AbortSignal & { [key]?: ByteMeter };
