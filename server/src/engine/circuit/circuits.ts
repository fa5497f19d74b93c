import { elapsed } from "../../base/clock.ts";
import type { ModelFailure } from "../model-failure.ts";
import { type Breaker, type CircuitPolicy, createBreaker, type OriginListener } from "./circuit.ts";

/** Identifies a circuit. Runs share a circuit if all these values are equal. */
export interface CircuitKey {
  /**
   * The party that is billed for the runs. Failures of one owner's calls do not open the circuits
   * of other owners. The capacity for waiting runs is divided among the owners.
   */
  readonly owner: string;
  /** Identifies the provider together with its settings, so it changes when a setting changes. */
  readonly provider: string;
  readonly model: string;
  /**
   * Scheme, host and port of the provider. An answered call shows that its origin is reachable.
   * Every circuit with the same origin that has waiting runs is then notified, including circuits
   * of other owners.
   */
  readonly origin: string;
}

/** Gets notified of the outages of models. */
export interface OutageListener {
  /** Called when a circuit opens, and for each failed call while it is open. */
  failed(key: CircuitKey, failure: ModelFailure): void;
  /** Called when a circuit closes. */
  ended(key: CircuitKey): void;
}

/** The circuit breaker of one model, as runs use it. */
export interface Circuit extends Pick<Breaker, "enter"> {
  /**
   * Counts a run that the provider's rate limit delays like a run that waits for the circuit.
   * Returns false if no capacity for waiting runs is left. After true, `stopWaiting` must be
   * called.
   */
  startWaiting(): boolean;
  stopWaiting(): void;
  /**
   * Notes that the wait for a whole answer of the model may be too long for a gateway: for an hour,
   * `needsStream` returns true to all runs of the model. Otherwise each step would lose one answer.
   */
  streamNext(): void;
  needsStream(): boolean;
}

/** See `Circuit.streamNext`. */
const streamedForMs = 3_600_000;

const noListener: OutageListener = { failed: () => {}, ended: () => {} };

/** The circuit breakers of one process. */
export interface Circuits {
  /**
   * Returns the circuit of `key`. Callers can keep the returned object for any time, because it
   * finds the circuit's state by `key` on each call.
   */
  of(key: CircuitKey): Circuit;
  /** Number of runs that wait for a model that is down, or test whether it still is. */
  readonly waitingRuns: number;
  /**
   * Number of other runs whose model call was rejected by the provider's rate limit and has not
   * ended since.
   */
  readonly rateLimitedRuns: number;
}

interface CacheEntry {
  readonly owner: string;
  readonly breaker: Breaker;
}

/**
 * Creates the circuit breakers of one process.
 *
 * @param options `maxCircuits` is the maximum number of circuits with state. Above it an idle
 *   circuit is evicted. If no circuit is idle, the owner with the most circuits loses the least
 *   recently used one, so that no owner can evict the state of an owner with fewer circuits.
 *   `outages` is notified of outages.
 */
export function createCircuits(
  policy: CircuitPolicy,
  {
    random = Math.random,
    maxCircuits = 1_000,
    outages = noListener,
  }: {
    readonly random?: () => number;
    readonly maxCircuits?: number;
    readonly outages?: OutageListener;
  } = {},
): Circuits {
  const cached = new Map<string, CacheEntry>();
  const listeners = new Map<string, Set<OriginListener>>();
  const waiting = createWaitingCapacity(policy.maxWaiting);
  let rateLimitedRuns = 0;
  let probingRuns = 0;
  /** By the id of a circuit, until when its calls are streamed. The oldest entry is first. */
  const streamedUntil = new Map<string, number>();

  const create = (key: CircuitKey) => {
    const { owner, origin } = key;
    return createBreaker(
      policy,
      {
        onFailure: (failure) => outages.failed(key, failure),
        onClosed: () => outages.ended(key),
        reserveWaiting: (isCounted) => {
          if (!isCounted) return waiting.take(owner);
          rateLimitedRuns -= 1;
          return true;
        },
        releaseWaiting: (isCounted) => {
          if (isCounted) rateLimitedRuns += 1;
          else waiting.release(owner);
        },
        startProbe: (isCounted) => {
          if (isCounted) rateLimitedRuns -= 1;
          else probingRuns += 1;
        },
        endProbe: (isCounted) => {
          if (isCounted) rateLimitedRuns += 1;
          else probingRuns -= 1;
        },
        notifyOrigin: () => {
          const notified = listeners.get(origin);
          if (notified === undefined) return;
          listeners.delete(origin);
          for (const listener of notified) listener(notified.size);
        },
        subscribeToOrigin: (listener) => {
          listeners.set(origin, (listeners.get(origin) ?? new Set()).add(listener));
        },
        unsubscribeFromOrigin: (listener) => {
          const remaining = listeners.get(origin);
          remaining?.delete(listener);
          if (remaining?.size === 0) listeners.delete(origin);
        },
      },
      random,
    );
  };

  const find = (id: string, key: CircuitKey): Breaker => {
    const { breaker } = cached.get(id) ?? { breaker: create(key) };
    cached.delete(id);
    if (cached.size >= maxCircuits) cached.delete(entryToEvict(cached));
    cached.set(id, { owner: key.owner, breaker });
    return breaker;
  };

  return {
    of: (key) => {
      const id = JSON.stringify([key.owner, key.provider, key.model, key.origin]);
      return {
        enter: (...times) => find(id, key).enter(...times),
        startWaiting: () => {
          const isTaken = waiting.take(key.owner);
          if (isTaken) rateLimitedRuns += 1;
          return isTaken;
        },
        stopWaiting: () => {
          waiting.release(key.owner);
          rateLimitedRuns -= 1;
        },
        streamNext: () => {
          streamedUntil.delete(id);
          const [oldest] = streamedUntil.size < maxCircuits ? [] : streamedUntil.keys();
          if (oldest !== undefined) streamedUntil.delete(oldest);
          streamedUntil.set(id, elapsed() + streamedForMs);
        },
        needsStream: () => elapsed() < (streamedUntil.get(id) ?? 0),
      };
    },
    get waitingRuns() {
      return waiting.total - rateLimitedRuns + probingRuns;
    },
    get rateLimitedRuns() {
      return rateLimitedRuns;
    },
  };
}

/**
 * Returns the id of the circuit to evict. `cached` must not be empty, and its entries must be in
 * order of use, least recently used first.
 */
function entryToEvict(cached: ReadonlyMap<string, CacheEntry>): string {
  const oldest = new Map<string, { id: string; count: number }>();
  let largest = { id: "", count: 0 };
  for (const [id, { owner, breaker }] of cached) {
    if (breaker.isIdle) return id;
    const of = oldest.get(owner) ?? { id, count: 0 };
    oldest.set(owner, of);
    of.count += 1;
    if (of.count > largest.count) largest = of;
  }
  return largest.id;
}

/**
 * Divides a capacity of `max` waiting runs among owners. An owner can take at most as much as
 * remains free. One owner alone therefore gets half of the capacity, and a second owner gets half
 * of the rest, so that some capacity is always left for another owner (dynamic thresholds:
 * Choudhury and Hahne, 1998).
 */
function createWaitingCapacity(max: number) {
  const byOwner = new Map<string, number>();
  let total = 0;
  return {
    get total(): number {
      return total;
    },
    take(owner: string): boolean {
      const own = byOwner.get(owner) ?? 0;
      if (own >= max - total) return false;
      byOwner.set(owner, own + 1);
      total += 1;
      return true;
    },
    release(owner: string): void {
      const own = (byOwner.get(owner) ?? 0) - 1;
      if (own === 0) byOwner.delete(owner);
      else byOwner.set(owner, own);
      total -= 1;
    },
  };
}
