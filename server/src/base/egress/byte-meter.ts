const key = Symbol("byte meter");

/**
 * Told of the bytes of a call as they pass. It ends a call that has too many by aborting the call's
 * signal.
 */
export interface ByteMeter {
  /** Bytes of a request's body; again for each request of the call. */
  sent(bytes: number): void;
  /** Bytes of an answer's body. The limit of the transport does not apply. */
  received(bytes: number): void;
}

/**
 * Has `meter` told of every request that is made with this signal. The signal is the one thing of
 * ours that the libraries of providers pass on unchanged to `fetch`. A property, since a weak map
 * costs the collector more than a call lives.
 */
export function meterCalls(signal: AbortSignal, meter: ByteMeter): void {
  (signal as Metered)[key] = meter;
}

export function meterOf(signal: AbortSignal | undefined): ByteMeter | undefined {
  return (signal as Metered | undefined)?.[key];
}

type Metered = AbortSignal & { [key]?: ByteMeter };
