import { elapsed } from "../../base/clock.ts";
import { ModelFailure } from "../model-failure.ts";

export interface CircuitPolicy {
  /**
   * Number of consecutive failures, counted over all runs, that opens the circuit. Must be less
   * than `RetryPolicy.maxAttempts`: otherwise a run that is the only one fails instead of waiting.
   * Also the maximum number of last attempts (see `lastAttemptMs`) in flight while the circuit is
   * open.
   */
  readonly failureThreshold: number;
  /**
   * Upper bound in milliseconds of the first pause before a probe (see `createBreaker`). The bound
   * doubles with each probe.
   */
  readonly basePauseMs: number;
  /**
   * Upper bound of any pause in milliseconds. It is also roughly the longest time until the circuit
   * detects that the model is available again.
   */
  readonly maxPauseMs: number;
  /**
   * A waiting run gets one last attempt this many milliseconds before its wait or the run ends,
   * whichever is first. If less than twice this time is left when it begins to wait, it gets the
   * attempt after half of the time left.
   */
  readonly lastAttemptMs: number;
  /**
   * Maximum number of runs of a process that wait at the same time. A waiting run counts towards
   * the process's limit `BECKON_MAX_RUNS`, so more waiting runs could leave no capacity for others.
   */
  readonly maxWaiting: number;
  /**
   * The circuit also opens if at least this many calls are in flight and the model was silent for
   * more than `maxSilenceMs`.
   */
  readonly minSilentCalls: number;
  /**
   * The circuit also opens if at least `minSilentCalls` calls are in flight, and for more than this
   * many milliseconds none received data or was reported as answered or failed. The time counts
   * from the last of these or, if no call was in flight then, from the start of the next call.
   */
  readonly maxSilenceMs: number;
}

/**
 * Returns the policy of a process that executes up to `maxRuns` runs at the same time.
 * `circuits.ts` divides `maxWaiting` among the owners of circuits.
 */
export function circuitPolicy(maxRuns: number): CircuitPolicy {
  return {
    failureThreshold: 3,
    basePauseMs: 1_000,
    maxPauseMs: 15_000,
    lastAttemptMs: 15_000,
    maxWaiting: Math.max(1, Math.floor(maxRuns / 2)),
    // With fewer calls in flight, silence can also mean that the answers are slow. If the calls
    // then time out, `failureThreshold` applies.
    minSilentCalls: Math.max(16, Math.floor(maxRuns / 8)),
    maxSilenceMs: 60_000,
  };
}

/**
 * Permission for one model call. Its methods, except `received`, report the result of the call.
 * Only the first report counts.
 */
export interface Pass {
  /**
   * Whether the call was allowed while the circuit was open. The model is then expected to fail, so
   * a failure does not count as an attempt of the run.
   */
  readonly probe: boolean;
  /**
   * Whether this is the last attempt of a run that is about to end. The run gets no other pass
   * while the circuit is open, unless it returns this one.
   */
  readonly last: boolean;
  /**
   * Notes that data of a streamed answer has arrived, so the model is not silent. This is not its
   * result: a stream can end with a failure before its first text.
   */
  received(): void;
  /** Reports that the provider responded, possibly with an error, or that its answer has begun. */
  answered(): void;
  /** Reports that the provider is unreachable. */
  failed(failure: ModelFailure): void;
  /**
   * Reports that Beckon cancelled the call before `answered` or `failed` could be reported, or did
   * not send it.
   */
  dropped(): void;
  /**
   * Reports that the run does not make the call now. The run can ask for another pass. If this pass
   * is a probe and not `last`, another waiting run gets the probe at once or, if none waits, the
   * next call gets it. So the provider is tested before the next pause ends.
   */
  returned(): void;
}

/**
 * Circuit breaker of one model: while the model is unavailable, runs wait instead of calling it.
 */
export interface Breaker {
  /**
   * Resolves when a call is allowed. Times are milliseconds on the clock of `base/clock.ts`.
   *
   * @param endsAt the time at which the wait ends with an error.
   * @param deadlineAt the time at which the signal stops the run. Default: never.
   * @param isCounted whether `Circuit.startWaiting` has counted the run already. Default false.
   * @throws {ModelFailure} the model was still unavailable at `endsAt`, or too many runs wait
   *   already.
   * @throws the signal's reason if the signal aborts first.
   */
  enter(
    signal: AbortSignal,
    endsAt: number,
    deadlineAt?: number,
    isCounted?: boolean,
  ): Promise<Pass>;
  /** Whether the breaker has the same state as a new one, so that it can be evicted. */
  readonly isIdle: boolean;
}

/**
 * Called when a call of any circuit with the same provider origin (scheme, host, port) got a
 * response. `notified` is the number of circuits that are notified together.
 */
export type OriginListener = (notified: number) => void;

/** State that a circuit shares with the other circuits of its process. */
export interface SharedState {
  /** Called when the circuit opens, and for each failed call while it is open. */
  onFailure(failure: ModelFailure): void;
  /** Called when the circuit closes. */
  onClosed(): void;
  /**
   * Reserves capacity for a run that waits for the circuit, unless `isCounted`. Returns false if no
   * capacity is left. After true, `releaseWaiting` must be called with the same value.
   */
  reserveWaiting(isCounted: boolean): boolean;
  releaseWaiting(isCounted: boolean): void;
  /** Called when a probe of a run begins, and when its result is reported. */
  startProbe(isCounted: boolean): void;
  endProbe(isCounted: boolean): void;
  /**
   * Notifies the subscribed circuits with the same provider origin (scheme, host, port) that a call
   * of this circuit was answered.
   */
  notifyOrigin(): void;
  /**
   * Subscribes for one notification: `listener` is called when a call of any circuit with the same
   * provider origin is answered.
   */
  subscribeToOrigin(listener: OriginListener): void;
  unsubscribeFromOrigin(listener: OriginListener): void;
}

/**
 * Maximum time over which calls are spread, in milliseconds. If many calls are allowed at the same
 * moment, they start at random times within one millisecond per call, up to this maximum, so that
 * the provider does not get all of them at once. Two groups of calls are spread: the waiting calls
 * of a circuit that closes, and, after any answered call, the extra probes of all open circuits
 * with the same origin.
 */
const spreadMs = 1_000;

type Turn = "ordinary" | "probe" | "last";

interface Waiter {
  readonly admit: (turn: Turn) => void;
}

/**
 * Creates a circuit breaker.
 *
 * While the circuit is closed, every call is allowed. `failureThreshold` consecutive failures open
 * it. While it is open, one call is allowed as a probe after each pause: the call of a random
 * waiting run or, if no run waits, the next call that is requested. The next pause starts together
 * with the probe, so that a probe without a result does not delay the next one. Any answer closes
 * the circuit, even an answer to a call that was made before the circuit opened.
 *
 * When a call of another circuit to the same origin is answered, one extra probe is allowed within
 * `spreadMs`, at most one for each regular probe. The pauses do not change. Other tenants can
 * therefore shorten a wait but never extend it.
 */
export function createBreaker(
  policy: CircuitPolicy,
  shared: SharedState,
  random = Math.random,
): Breaker {
  const waiting = new Set<Waiter>();
  /**
   * The elements of `waiting` that are to get a last attempt, in the order in which they were
   * added.
   */
  const nearEnd = new Set<Waiter>();
  let consecutiveFailures = 0;
  let inFlight = 0;
  let lastAttempts = 0;
  let lastActivityAt = 0;
  /**
   * Defined while the circuit is open. `due` is true if a pause ended or a probe was returned while
   * no run waited, so that the next call becomes the probe. `canProbeEarly` is false if an extra
   * probe was already allowed since the last regular probe.
   */
  let openState:
    | {
        reason: ModelFailure;
        pauses: number;
        due: boolean;
        canProbeEarly: boolean;
        timer?: NodeJS.Timeout;
      }
    | undefined;

  const open = (reason: ModelFailure) => {
    openState = { reason, pauses: 0, due: false, canProbeEarly: true };
    pause(openState);
    shared.onFailure(reason);
  };
  const pause = (state: NonNullable<typeof openState>) => {
    clearTimeout(state.timer);
    const bound = Math.min(policy.maxPauseMs, policy.basePauseMs * 2 ** state.pauses);
    state.pauses += 1;
    state.timer = setTimeout(probe, bound * (0.5 + random() / 2));
  };
  const close = () => {
    clearTimeout(openState?.timer);
    openState = undefined;
    shared.onClosed();
    const spread = Math.min(spreadMs, waiting.size);
    for (const waiter of waiting) {
      setTimeout(() => {
        // If the circuit has opened again in the meantime, this call continues to wait.
        if (openState === undefined) waiter.admit("ordinary");
      }, random() * spread);
    }
  };
  const randomWaiter = () =>
    [...waiting][Math.min(waiting.size - 1, Math.floor(random() * waiting.size))];
  const probe = () => {
    if (openState === undefined) return;
    const waiter = randomWaiter();
    openState.due = waiter === undefined;
    openState.canProbeEarly = true;
    if (waiter === undefined) return;
    pause(openState);
    waiter.admit("probe");
    awaitOrigin();
  };
  const giveToAnother = () => {
    if (openState === undefined) return;
    const waiter = randomWaiter();
    if (waiter === undefined) openState.due = true;
    else waiter.admit("probe");
  };
  const awaitOrigin = () => {
    if (openState?.canProbeEarly && waiting.size > 0) shared.subscribeToOrigin(onOriginAnswered);
  };
  const onOriginAnswered: OriginListener = (notified) => {
    if (openState === undefined) return;
    openState.canProbeEarly = false;
    setTimeout(() => {
      if (openState !== undefined) randomWaiter()?.admit("probe");
    }, random() * Math.min(spreadMs, notified));
  };
  const allowLastAttempts = () => {
    for (const waiter of nearEnd) {
      if (lastAttempts >= policy.failureThreshold) return;
      lastAttempts += 1;
      waiter.admit("last");
    }
  };
  const isSilent = () =>
    inFlight >= policy.minSilentCalls && elapsed() - lastActivityAt > policy.maxSilenceMs;

  const noteActivity = () => {
    lastActivityAt = elapsed();
  };

  const pass = (turn: Turn, isCounted = false): Pass => {
    if (inFlight === 0) noteActivity();
    inFlight += 1;
    if (turn === "ordinary") return new CountedPass(turn, finish, noteActivity);
    shared.startProbe(isCounted);
    const onReport = (_: Turn, result: CallResult) => {
      shared.endProbe(isCounted);
      finish(turn, result);
    };
    return new CountedPass(turn, onReport, noteActivity);
  };
  const finish = (turn: Turn, result: CallResult) => {
    inFlight -= 1;
    if (result === "answered") {
      noteActivity();
      consecutiveFailures = 0;
      if (openState !== undefined) close();
      shared.notifyOrigin();
    } else if (result === "returned") {
      if (turn === "probe") giveToAnother();
    } else if (result !== "dropped") {
      noteActivity();
      consecutiveFailures += 1;
      if (openState !== undefined) {
        openState.reason = result;
        shared.onFailure(result);
      } else if (consecutiveFailures >= policy.failureThreshold) open(result);
    }
    if (turn !== "last") return;
    lastAttempts -= 1;
    allowLastAttempts();
  };

  const waitForTurn = (
    signal: AbortSignal,
    endsAt: number,
    deadlineAt: number,
    isCounted: boolean,
  ) =>
    new Promise<Turn>((resolve, reject) => {
      const leave = () => {
        if (!waiting.delete(waiter)) return false;
        nearEnd.delete(waiter);
        clearTimeout(lastAttemptTimer);
        clearTimeout(endTimer);
        signal.removeEventListener("abort", onAbort);
        shared.releaseWaiting(isCounted);
        if (waiting.size === 0) shared.unsubscribeFromOrigin(onOriginAnswered);
        return true;
      };
      const waiter: Waiter = {
        admit: (turn) => {
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
      const lastAttemptTimer = setTimeout(
        () => {
          nearEnd.add(waiter);
          allowLastAttempts();
        },
        timerMs(leftMs - Math.min(policy.lastAttemptMs, leftMs / 2)),
      );
      const endTimer = setTimeout(
        () => fail(unavailable(openState?.reason)),
        timerMs(endsAt - now),
      );
      waiting.add(waiter);
      awaitOrigin();
    });

  return {
    get isIdle() {
      return (
        openState === undefined && consecutiveFailures === 0 && inFlight === 0 && waiting.size === 0
      );
    },
    async enter(signal, endsAt, deadlineAt = Number.POSITIVE_INFINITY, isCounted = false) {
      signal.throwIfAborted();
      if (openState === undefined && isSilent())
        open(new ModelFailure("It does not answer.", { kind: "timeout", retryable: true }));
      if (openState === undefined) return pass("ordinary");
      if (openState.due) {
        openState.due = false;
        pause(openState);
        return pass("probe", isCounted);
      }
      if (!shared.reserveWaiting(isCounted))
        throw unavailable(openState.reason, ", and too many runs already wait for models");
      return pass(await waitForTurn(signal, endsAt, deadlineAt, isCounted), isCounted);
    },
  };
}

type CallResult = "answered" | "dropped" | "returned" | ModelFailure;

/**
 * Passes only the first report to `onReport`. This is a class and not an object with closures,
 * because there is one for each model call and an instance costs less garbage collection
 * (docs/decisions/0012-what-is-brief-dies-young.md).
 */
class CountedPass implements Pass {
  readonly #turn: Turn;
  readonly #onReport: (turn: Turn, result: CallResult) => void;
  readonly #onReceived: () => void;
  #isReported = false;

  constructor(
    turn: Turn,
    onReport: (turn: Turn, result: CallResult) => void,
    onReceived: () => void,
  ) {
    this.#turn = turn;
    this.#onReport = onReport;
    this.#onReceived = onReceived;
  }

  get probe(): boolean {
    return this.#turn !== "ordinary";
  }

  get last(): boolean {
    return this.#turn === "last";
  }

  received(): void {
    if (!this.#isReported) this.#onReceived();
  }

  answered(): void {
    this.#report("answered");
  }

  failed(failure: ModelFailure): void {
    this.#report(failure);
  }

  dropped(): void {
    this.#report("dropped");
  }

  returned(): void {
    this.#report("returned");
  }

  #report(result: CallResult): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#onReport(this.#turn, result);
  }
}

/** Returns the delay limited to the range of `setTimeout`, which is 0 to 2^31-1 ms. */
function timerMs(ms: number): number {
  return Math.min(Math.max(0, ms), 2 ** 31 - 1);
}

function unavailable(reason: ModelFailure | undefined, more = ""): ModelFailure {
  const last = reason === undefined ? "" : ` Its last failure: ${reason.message}`;
  return new ModelFailure(`The model's provider is down${more}.${last}`, {
    kind: reason?.kind ?? "error",
    retryable: false,
  });
}
