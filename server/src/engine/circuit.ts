import { elapsed } from "../base/clock.ts";
import { ModelFailure } from "./model-failure.ts";

export interface CircuitPolicy {
  /** Failures in a row, of all runs, after which the provider counts as down. */
  readonly failures: number;
  /** Bound of the first pause in milliseconds; doubled with each call that finds it still down. */
  readonly baseMs: number;
  /** Bound of any pause in milliseconds, and so about how late it is noticed that the provider is back. */
  readonly capMs: number;
  /** Runs that wait for it at once; a further one fails at once. Each holds one of the process's places. */
  readonly mostWaiting: number;
  /** With this many calls under way… */
  readonly mostSilent: number;
  /** …and no sign of life from any of them for so many milliseconds it counts as down too. */
  readonly silentMs: number;
}

/**
 * For a process that executes `places` runs at once. A provider that is down holds a quarter of them with runs that wait and, if it
 * swallows calls, an eighth with those: the rest is left to the others.
 */
export function circuitPolicy(places: number): CircuitPolicy {
  return {
    failures: 5,
    baseMs: 1_000,
    capMs: 15_000,
    mostWaiting: Math.max(1, Math.floor(places / 4)),
    mostSilent: Math.max(1, Math.floor(places / 8)),
    silentMs: 60_000,
  };
}

/** One call, as the circuit sees it. Told of one thing only, whichever comes first. */
export interface Pass {
  /** The provider is there: it answered, if only with a refusal, or has begun to. */
  answered(): void;
  /** The provider is not there. */
  failed(failure: ModelFailure): void;
  /** The call ended without either: it was cut from our side. */
  dropped(): void;
}

/** Keeps runs from calling a provider that is down, and lets them wait for it. One per provider, for all runs of a process. */
export interface Circuit {
  /**
   * Resolves when a call may be made.
   *
   * @throws {ModelFailure} the provider was still down at `endsAt` (on the clock of `base/clock.ts`), or too many wait already.
   * @throws the signal's reason.
   */
  enter(signal: AbortSignal, endsAt: number): Promise<Pass>;
}

/** Milliseconds between the first and the last of a thousand runs that have waited; they are not to come back as one blow. */
const spreadMs = 1_000;

interface Waiter {
  go(): void;
  fail(reason: unknown): void;
}

/**
 * Closed: every call is made. `failures` in a row open it. Open: nothing is called but, after each pause, one of those that wait,
 * or the next to come. Its failure makes the next pause longer; whatever it is answered closes the circuit, and so does a late answer to any
 * earlier call. A call that hangs does not hold up the next one: that goes after another pause.
 */
export function createCircuit(policy: CircuitPolicy, random = Math.random): Circuit {
  const waiting = new Set<Waiter>();
  let inARow = 0;
  let underWay = 0;
  let lastSign = 0;
  /** Set while it is open. */
  let down: { reason: ModelFailure; pauses: number; due: boolean; timer: NodeJS.Timeout } | undefined;

  const pause = (pauses: number) => {
    const bound = Math.min(policy.capMs, policy.baseMs * 2 ** pauses);
    return setTimeout(turn, bound * (0.5 + random() / 2));
  };
  const open = (reason: ModelFailure) => {
    down = { reason, pauses: 0, due: false, timer: pause(0) };
  };
  const close = () => {
    clearTimeout(down?.timer);
    down = undefined;
    const spread = Math.min(spreadMs, waiting.size);
    for (const waiter of waiting) setTimeout(waiter.go, random() * spread);
  };
  /** A pause is over: one may call. */
  const turn = () => {
    if (down === undefined) return;
    const [first] = waiting;
    down.due = first === undefined;
    first?.go();
    // Counts for a call that hangs; one that fails sets its own.
    if (first !== undefined) down.timer = pause(down.pauses);
  };
  const isSilent = () => underWay >= policy.mostSilent && elapsed() - lastSign > policy.silentMs;

  const pass = (): Pass => {
    const probes = down !== undefined;
    if (underWay === 0) lastSign = elapsed();
    underWay += 1;
    let over = false;
    const once = (then: () => void) => () => {
      if (over) return;
      over = true;
      underWay -= 1;
      then();
    };
    return {
      answered: once(() => {
        lastSign = elapsed();
        inARow = 0;
        if (down !== undefined) close();
      }),
      failed: (reason) =>
        once(() => {
          lastSign = elapsed();
          inARow += 1;
          if (down === undefined) {
            if (inARow >= policy.failures) open(reason);
          } else if (probes) {
            clearTimeout(down.timer);
            down = { reason, pauses: down.pauses + 1, due: false, timer: pause(down.pauses + 1) };
          }
        })(),
      dropped: once(() => undefined),
    };
  };

  return {
    async enter(signal, endsAt) {
      signal.throwIfAborted();
      if (down === undefined && isSilent()) open(new ModelFailure("It does not answer.", { kind: "timeout", retryable: true }));
      if (down === undefined) return pass();
      if (down.due) {
        down.due = false;
        down.timer = pause(down.pauses);
        return pass();
      }
      if (waiting.size >= policy.mostWaiting) throw stillDown(down.reason, `, and ${waiting.size} runs wait for it already`);
      await waitFor(waiting, signal, endsAt, () => stillDown(down?.reason));
      return pass();
    },
  };
}

/** Resolves when the waiter is told to go, which takes it out of the queue. */
function waitFor(waiting: Set<Waiter>, signal: AbortSignal, endsAt: number, outOfTime: () => ModelFailure): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(waiter);
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const waiter: Waiter = {
      go: () => {
        leave();
        resolve();
      },
      fail: (reason) => {
        leave();
        reject(reason);
      },
    };
    const onAbort = () => waiter.fail(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(() => waiter.fail(outOfTime()), Math.min(Math.max(0, endsAt - elapsed()), 2 ** 31 - 1));
    waiting.add(waiter);
  });
}

function stillDown(reason: ModelFailure | undefined, more = ""): ModelFailure {
  const last = reason === undefined ? "" : ` Its last failure: ${reason.message}`;
  return new ModelFailure(`The model's provider is down${more}.${last}`, { kind: reason?.kind ?? "error", retryable: false });
}
