import {
  type Circuit,
  type CircuitPolicy,
  createCircuit,
  type KeptCircuit,
  type OriginHint,
} from "./circuit.ts";

/** What runs must have in common to share a circuit. */
export interface CircuitKey {
  /**
   * Who is billed for the runs: owners share neither failures nor each other's capacity to wait.
   */
  readonly owner: string;
  /** The provider and what changes with its settings. */
  readonly provider: string;
  readonly model: string;
  /**
   * Scheme, host and port of the provider. Its circuits tell each other when it answers, whosever
   * they are.
   */
  readonly origin: string;
}

/** The circuit breakers of one process. */
export interface Circuits {
  /**
   * Returns the key's circuit. Its state is looked up with each call, so the result can be kept for
   * any time.
   */
  of(key: CircuitKey): Circuit;
}

interface Kept {
  readonly owner: string;
  readonly circuit: KeptCircuit;
}

/**
 * The circuits of one process.
 *
 * @param maxCircuits those whose state is kept. One more takes the place of one without state, else
 * of the least recently used of the owner that has the most: nobody can displace the state of an
 * owner that has fewer.
 */
export function createCircuits(
  policy: CircuitPolicy,
  { random = Math.random, maxCircuits = 1_000 } = {},
): Circuits {
  const kept = new Map<string, Kept>();
  const hints = new Map<string, Set<OriginHint>>();
  const waiting = createWaitingCapacity(policy.maxWaiting);

  const create = ({ owner, origin }: CircuitKey) =>
    createCircuit(
      policy,
      {
        startWaiting: () => waiting.take(owner),
        stopWaiting: () => waiting.release(owner),
        originAnswered: () => {
          const hinted = hints.get(origin);
          if (hinted === undefined) return;
          hints.delete(origin);
          for (const hint of hinted) hint(hinted.size);
        },
        awaitOrigin: (hint) => {
          hints.set(origin, (hints.get(origin) ?? new Set()).add(hint));
        },
        ignoreOrigin: (hint) => {
          const others = hints.get(origin);
          others?.delete(hint);
          if (others?.size === 0) hints.delete(origin);
        },
      },
      random,
    );

  const find = (id: string, key: CircuitKey): KeptCircuit => {
    const { circuit } = kept.get(id) ?? { circuit: create(key) };
    kept.delete(id);
    if (kept.size >= maxCircuits) kept.delete(leastNeeded(kept));
    kept.set(id, { owner: key.owner, circuit });
    return circuit;
  };

  return {
    of: (key) => {
      const id = JSON.stringify([key.owner, key.provider, key.model, key.origin]);
      return { enter: (...times) => find(id, key).enter(...times) };
    },
  };
}

/** `kept` is in order of use and not empty. */
function leastNeeded(kept: ReadonlyMap<string, Kept>): string {
  const oldest = new Map<string, { id: string; count: number }>();
  let most = { id: "", count: 0 };
  for (const [id, { owner, circuit }] of kept) {
    if (circuit.idle) return id;
    const of = oldest.get(owner) ?? { id, count: 0 };
    oldest.set(owner, of);
    of.count += 1;
    if (of.count > most.count) most = of;
  }
  return most.id;
}

/**
 * Divides the capacity of `max` waiting runs: an owner may take as much as is left free. So one
 * alone gets half of it, a second half of the rest, and some is left for the next owner however
 * many models and providers the others have (dynamic thresholds: Choudhury and Hahne, 1998).
 */
function createWaitingCapacity(max: number) {
  const byOwner = new Map<string, number>();
  let total = 0;
  return {
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
