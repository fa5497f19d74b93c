import { elapsed } from "../../base/clock.ts";
import { ModelFailure } from "../model-failure.ts";

export interface CircuitPolicy {
  /**
   * Failures in a row, of all runs, that open the circuit. Also the last tries that may be under
   * way at once while it is open.
   */
  readonly failures: number;
  /** Upper bound of the first pause; doubled with each probe. */
  readonly baseMs: number;
  /** Upper bound of any pause, and so about how late it is noticed that the model is back. */
  readonly capMs: number;
  /**
   * A run is let through once this long before its end, or after half of the time it has left if
   * that is later.
   */
  readonly lastTryMs: number;
  /** Runs of a process that may wait at once. Each holds one of the process's `BECKON_MAX_RUNS`. */
  readonly maxWaiting: number;
  /** With this many calls under way… */
  readonly minSilentCalls: number;
  /** …and no sign of life from any of them for so long the circuit opens too. */
  readonly silentMs: number;
}

/**
 * For a process that executes up to `maxRuns` runs at once. See `circuits.ts` for how owners share
 * `maxWaiting`.
 */
export function circuitPolicy(maxRuns: number): CircuitPolicy {
  return {
    failures: 5,
    baseMs: 1_000,
    capMs: 15_000,
    lastTryMs: 15_000,
    maxWaiting: Math.max(1, Math.floor(maxRuns / 2)),
    minSilentCalls: Math.max(1, Math.floor(maxRuns / 8)),
    silentMs: 60_000,
  };
}

/** Permission for one call. Only the first report counts. */
export interface Pass {
  /** Issued while the circuit is open: a failure says nothing new about this run. */
  readonly probe: boolean;
  /** The run is near its end: it gets no other pass while the circuit is open. */
  readonly last: boolean;
  /** The provider is there: it answered, if only with a refusal, or has begun to. */
  answered(): void;
  /** The provider is not there. */
  failed(failure: ModelFailure): void;
  /** The call ended without either: it was cut from our side. */
  dropped(): void;
}

/** Keeps runs from calling a model that is down, and lets them wait for it. */
export interface Circuit {
  /**
   * Resolves when a call may be made. Times are on the clock of `base/clock.ts`.
   *
   * @param endsAt the wait fails then.
   * @param deadlineAt the run is stopped then by its signal; default: never.
   * @throws {ModelFailure} the model was still down at `endsAt`, or too many runs wait already.
   * @throws the signal's reason.
   */
  enter(signal: AbortSignal, endsAt: number, deadlineAt?: number): Promise<Pass>;
}

/** `hinted`: circuits that are told at the same time. */
export type OriginHint = (hinted: number) => void;

/** What a circuit shares with the others of its process. */
export interface CircuitNeighbours {
  /** Reserves capacity for a waiting run; false: there is none left. */
  startWaiting(): boolean;
  stopWaiting(): void;
  /** Tells the open circuits of this origin that it answers. */
  originAnswered(): void;
  /** `hint` is called once, when a call of any circuit to this origin is answered. */
  awaitOrigin(hint: OriginHint): void;
  ignoreOrigin(hint: OriginHint): void;
}

/** A circuit that `circuits.ts` keeps. */
export interface KeptCircuit extends Circuit {
  /** It knows nothing that a new one would not know. */
  readonly idle: boolean;
}

/**
 * Milliseconds over which up to a thousand calls are spread that would otherwise be made at once.
 */
const spreadMs = 1_000;

type Turn = "ordinary" | "probe" | "last";

interface Waiter {
  readonly go: (turn: Turn) => void;
}

/**
 * Closed: every call is made. `failures` in a row open it. Open: after each pause one waiting run,
 * chosen at random, or the next to come makes a call, a probe. Pauses run from probe to probe, so
 * that one that hangs does not hold up the next. Whatever any call is answered, also one from
 * before, closes the circuit.
 *
 * An answer from the same origin to a call of another circuit allows one probe at once, at most one
 * for each of its own. It changes no pause, so others can shorten a wait and not lengthen one.
 */
export function createCircuit(
  policy: CircuitPolicy,
  neighbours: CircuitNeighbours,
  random = Math.random,
): KeptCircuit {
  const waiting = new Set<Waiter>();
  /** Those of `waiting` whose run is about to end, in this order. */
  const nearEnd = new Set<Waiter>();
  let inARow = 0;
  let underWay = 0;
  let lastTries = 0;
  let lastSign = 0;
  /** Set while it is open. `due`: a pause is over and nobody waited. */
  let down:
    | {
        reason: ModelFailure;
        pauses: number;
        due: boolean;
        hintable: boolean;
        timer?: NodeJS.Timeout;
      }
    | undefined;

  const open = (reason: ModelFailure) => {
    down = { reason, pauses: 0, due: false, hintable: true };
    pause(down);
  };
  const pause = (state: NonNullable<typeof down>) => {
    const bound = Math.min(policy.capMs, policy.baseMs * 2 ** state.pauses);
    state.pauses += 1;
    state.timer = setTimeout(probe, bound * (0.5 + random() / 2));
  };
  const close = () => {
    clearTimeout(down?.timer);
    down = undefined;
    const spread = Math.min(spreadMs, waiting.size);
    for (const waiter of waiting) {
      setTimeout(() => {
        // It may have opened again meanwhile.
        if (down === undefined) waiter.go("ordinary");
      }, random() * spread);
    }
  };
  const anyWaiter = () =>
    [...waiting][Math.min(waiting.size - 1, Math.floor(random() * waiting.size))];
  const probe = () => {
    if (down === undefined) return;
    const waiter = anyWaiter();
    down.due = waiter === undefined;
    down.hintable = true;
    if (waiter === undefined) return;
    pause(down);
    waiter.go("probe");
    awaitHint();
  };
  const awaitHint = () => {
    if (down?.hintable && waiting.size > 0) neighbours.awaitOrigin(takeHint);
  };
  const takeHint: OriginHint = (hinted) => {
    if (down === undefined) return;
    down.hintable = false;
    setTimeout(() => {
      if (down !== undefined) anyWaiter()?.go("probe");
    }, random() * Math.min(spreadMs, hinted));
  };
  const allowLastTries = () => {
    for (const waiter of nearEnd) {
      if (lastTries >= policy.failures) return;
      lastTries += 1;
      waiter.go("last");
    }
  };
  const isSilent = () =>
    underWay >= policy.minSilentCalls && elapsed() - lastSign > policy.silentMs;

  const pass = (turn: Turn): Pass => {
    if (underWay === 0) lastSign = elapsed();
    underWay += 1;
    let over = false;
    const once = (then: () => void) => {
      if (over) return;
      over = true;
      underWay -= 1;
      then();
      if (turn !== "last") return;
      lastTries -= 1;
      allowLastTries();
    };
    return {
      probe: turn !== "ordinary",
      last: turn === "last",
      answered: () =>
        once(() => {
          lastSign = elapsed();
          inARow = 0;
          if (down !== undefined) close();
          neighbours.originAnswered();
        }),
      failed: (reason) =>
        once(() => {
          lastSign = elapsed();
          inARow += 1;
          if (down !== undefined) down.reason = reason;
          else if (inARow >= policy.failures) open(reason);
        }),
      dropped: () => once(() => undefined),
    };
  };

  const waitForTurn = (signal: AbortSignal, endsAt: number, deadlineAt: number) =>
    new Promise<Turn>((resolve, reject) => {
      const leave = () => {
        if (!waiting.delete(waiter)) return false;
        nearEnd.delete(waiter);
        clearTimeout(lastTryTimer);
        clearTimeout(endTimer);
        signal.removeEventListener("abort", onAbort);
        neighbours.stopWaiting();
        if (waiting.size === 0) neighbours.ignoreOrigin(takeHint);
        return true;
      };
      const waiter: Waiter = {
        go: (turn) => {
          if (leave()) resolve(turn);
        },
      };
      const fail = (reason: unknown) => {
        if (leave()) reject(reason);
      };
      const onAbort = () => fail(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      const now = elapsed();
      const leftMs = Math.max(0, Math.min(endsAt, deadlineAt) - now);
      const lastTryTimer = setTimeout(
        () => {
          nearEnd.add(waiter);
          allowLastTries();
        },
        timerMs(leftMs - Math.min(policy.lastTryMs, leftMs / 2)),
      );
      const endTimer = setTimeout(() => fail(stillDown(down?.reason)), timerMs(endsAt - now));
      waiting.add(waiter);
      awaitHint();
    });

  return {
    get idle() {
      return down === undefined && inARow === 0 && underWay === 0 && waiting.size === 0;
    },
    async enter(signal, endsAt, deadlineAt = Number.POSITIVE_INFINITY) {
      signal.throwIfAborted();
      if (down === undefined && isSilent())
        open(new ModelFailure("It does not answer.", { kind: "timeout", retryable: true }));
      if (down === undefined) return pass("ordinary");
      if (down.due) {
        down.due = false;
        pause(down);
        return pass("probe");
      }
      if (!neighbours.startWaiting())
        throw stillDown(down.reason, ", and too many runs wait for models that are down already");
      return pass(await waitForTurn(signal, endsAt, deadlineAt));
    },
  };
}

/** What `setTimeout` takes: its largest delay is 2^31-1 ms. */
function timerMs(ms: number): number {
  return Math.min(Math.max(0, ms), 2 ** 31 - 1);
}

function stillDown(reason: ModelFailure | undefined, more = ""): ModelFailure {
  const last = reason === undefined ? "" : ` Its last failure: ${reason.message}`;
  return new ModelFailure(`The model's provider is down${more}.${last}`, {
    kind: reason?.kind ?? "error",
    retryable: false,
  });
}
