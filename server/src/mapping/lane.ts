import { ApiError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type EvaluationProcess, startChild } from "./child-process.ts";
import { FairQueue } from "./fair-queue.ts";
import { encodeFrame } from "./frames.ts";
import { type EvaluationLimits, type Mapping, MappingError } from "./mapping.ts";
import type { ChildResult, FromChild, ToChild } from "./messages.ts";

export interface LaneOptions extends EvaluationLimits {
  readonly log: Log;
  /** Maximum requests that the child has at a time, including the one that it evaluates. */
  readonly maxInFlight: number;
  /** Time without a request after which the child is stopped, in milliseconds; null: never. */
  readonly idleMs: number | null;
  /** Starts a child process. Default `startChild`; tests replace it to observe the process. */
  readonly start?: typeof startChild;
}

interface Job {
  readonly tenant: string;
  readonly mapping: Mapping;
  readonly frame: Buffer;
  readonly queuedAt: number;
  /** Whether a child exited during this evaluation. */
  hadExit: boolean;
  /** Estimated duration in milliseconds when the job was sent to a child; 0 before that. */
  estimatedMs: number;
  resolve(result: ChildResult): void;
  reject(error: Error): void;
}

interface Child {
  readonly process: EvaluationProcess;
  readonly startedAt: number;
  isReady: boolean;
  /** The requests that the child has, in the order of evaluation. Only the first has started. */
  inFlight: Job[];
  /** CPU time in milliseconds that the child had used when its current evaluation started. */
  headUsedMs: number | undefined;
  /** Time at which the child's current evaluation started. */
  headStartedAt: number;
  /** Sum of the estimated durations of the requests in flight, in milliseconds. */
  estimatedMs: number;
}

/** Maximum requests that wait in one lane: of all tenants together, and of one tenant. */
const maxWaiting = 2_000;
const maxWaitingOfTenant = 500;
const maxWaitMs = 10_000;
/**
 * While the child's unfinished requests are estimated to take less than this, the child is sent
 * another one, so that it never waits for the pipe between two requests. The value is low, because
 * the requests in the child are evaluated before a request of another tenant that arrives later.
 */
const maxAheadMs = 10;
/** Estimated milliseconds of an evaluation if none of its tenant's evaluations was measured yet. */
const unknownMs = 1;
const startTimeoutMs = 10_000;
/** Number of consecutive failed starts after which the waiting requests fail. */
const maxFailedStarts = 3;
/**
 * Maximum number of times the limit of an evaluation is extended because the machine was busy and
 * the child got too little CPU time.
 */
const maxExtensions = 10;

/**
 * One child process and the evaluations that wait for it. The child evaluates one at a time; when
 * one takes too long, the child is killed and replaced, which only delays the next evaluations. If
 * the child exits on its own, its current evaluation is repeated once, because the cause may be
 * something other than the evaluation, such as a lack of memory on the machine.
 */
export class EvaluationLane {
  readonly #options: LaneOptions;
  readonly #queue = new FairQueue<Job>();
  /**
   * Moving average of the duration of each tenant's evaluations, in milliseconds. Cleared when the
   * lane is idle.
   */
  readonly #meanMs = new Map<string, number>();
  #child: Child | undefined;
  /** The tenant whose evaluation ended the previous child, until the next child is ready. */
  #chargedForStart: string | undefined;
  #failedStarts = 0;
  #extensions = 0;
  #isClosed = false;
  #limitTimer: NodeJS.Timeout;
  #startTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #waitTimer: NodeJS.Timeout | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#limitTimer = setTimeout(() => {}, 0).unref();
    clearTimeout(this.#limitTimer);
  }

  /**
   * Evaluates a request in the child.
   * @param text the payload; empty if `request` has none.
   * @throws MappingError if the evaluation needs more than the limits; ApiError `unavailable` if
   *   too many evaluations wait, no child can be started, or the lane is closed.
   */
  run(tenant: string, request: ToChild, text: string): Promise<ChildResult> {
    if (this.#isClosed) return Promise.reject(stopping());
    if (this.#queue.size >= maxWaiting || this.#queue.sizeOf(tenant) >= maxWaitingOfTenant)
      return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      this.#queue.add(tenant, {
        tenant,
        mapping: request,
        frame: encodeFrame(request, text),
        queuedAt: performance.now(),
        hadExit: false,
        estimatedMs: 0,
        resolve,
        reject,
      });
      this.#waitTimer ??= setInterval(() => this.#rejectOld(), 1_000).unref();
      this.#pump();
    });
  }

  /** Kills the child. Evaluations that have not finished are rejected. */
  close(): void {
    this.#isClosed = true;
    const child = this.#child;
    this.#child = undefined;
    this.#clearTimers();
    for (const job of [...(child?.inFlight ?? []), ...this.#queue.remove(() => true)])
      job.reject(stopping());
    child?.process.kill();
  }

  #clearTimers(): void {
    for (const timer of [this.#limitTimer, this.#startTimer, this.#idleTimer]) clearTimeout(timer);
    clearInterval(this.#waitTimer);
    this.#waitTimer = undefined;
  }

  #pump(): void {
    if (this.#isClosed || this.#queue.size === 0) return;
    clearTimeout(this.#idleTimer);
    const child = this.#child ?? this.#start();
    if (!child.isReady) return;
    const { maxInFlight } = this.#options;
    while (child.inFlight.length < maxInFlight) {
      if (child.inFlight.length > 0 && child.estimatedMs >= maxAheadMs) return;
      const next = this.#queue.take();
      if (next === undefined) return;
      child.inFlight.push(next.item);
      next.item.estimatedMs = this.#meanMs.get(next.tenant) ?? unknownMs;
      child.estimatedMs += next.item.estimatedMs;
      child.process.write(next.item.frame);
      if (child.inFlight.length === 1) this.#startHead(child);
    }
  }

  #start(): Child {
    const child: Child = {
      startedAt: performance.now(),
      process: this.#spawn({
        result: (result) => this.#onResult(child, result),
        exit: () => this.#onExit(child),
      }),
      isReady: false,
      inFlight: [],
      headUsedMs: undefined,
      headStartedAt: 0,
      estimatedMs: 0,
    };
    this.#child = child;
    this.#startTimer = setTimeout(() => child.process.kill(), startTimeoutMs).unref();
    return child;
  }

  /** Starts a process. If that fails, returns a stand-in that does nothing and exits at once. */
  #spawn(on: Parameters<typeof startChild>[1]): EvaluationProcess {
    try {
      return (this.#options.start ?? startChild)(this.#options, on);
    } catch {
      // `#spawn` must not throw: it is also called in callbacks of timers and processes, where an
      // error would end the server.
      setImmediate(on.exit);
      return { write: () => {}, usedMs: () => undefined, kill: () => {} };
    }
  }

  #onResult(child: Child, result: FromChild): void {
    if (child !== this.#child) return;
    if (result.kind === "ready") {
      clearTimeout(this.#startTimer);
      child.isReady = true;
      this.#failedStarts = 0;
      if (this.#chargedForStart !== undefined)
        this.#queue.charge(this.#chargedForStart, performance.now() - child.startedAt);
      this.#chargedForStart = undefined;
      this.#pump();
      return;
    }
    const job = child.inFlight.shift();
    if (job === undefined) return;
    child.estimatedMs -= job.estimatedMs;
    this.#charge(job.tenant, result.ms);
    if (child.inFlight.length > 0) this.#startHead(child);
    else this.#idle(child);
    job.resolve(result);
    this.#pump();
  }

  #idle(child: Child): void {
    clearTimeout(this.#limitTimer);
    child.estimatedMs = 0;
    if (this.#queue.size > 0) return;
    this.#meanMs.clear();
    const { idleMs } = this.#options;
    if (idleMs === null) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (child.inFlight.length > 0 || child !== this.#child) return;
      this.#child = undefined;
      child.process.kill();
    }, idleMs).unref();
  }

  #startHead(child: Child): void {
    child.headUsedMs = child.process.usedMs();
    child.headStartedAt = performance.now();
    this.#extensions = 0;
    this.#limit(child, this.#options.timeoutMs);
  }

  /**
   * Kills the child if its current evaluation does not finish within `waitMs`. First extends the
   * limit, up to `maxExtensions` times, if the child got less CPU time than `timeoutMs`.
   */
  #limit(child: Child, waitMs: number): void {
    clearTimeout(this.#limitTimer);
    const { timeoutMs } = this.#options;
    const [head] = child.inFlight;
    this.#limitTimer = setTimeout(() => {
      // `setImmediate` runs after the poll phase, so a result that arrived while this process was
      // busy is read first.
      setImmediate(() => {
        if (child !== this.#child || child.inFlight[0] !== head || head === undefined) return;
        const usedMs = child.process.usedMs();
        const { headUsedMs } = child;
        const leftMs =
          usedMs === undefined || headUsedMs === undefined ? 0 : timeoutMs + headUsedMs - usedMs;
        if (leftMs > 0 && this.#extensions < maxExtensions) {
          this.#extensions += 1;
          this.#limit(child, Math.max(leftMs, timeoutMs / 2));
        } else this.#killForTime(child, head);
      });
    }, waitMs + graceMs).unref();
  }

  #killForTime(child: Child, head: Job): void {
    const { timeoutMs, log } = this.#options;
    log.write("a filter or message template took too long", {
      workspace_id: head.tenant,
      limit_ms: timeoutMs,
    });
    child.inFlight.shift();
    this.#chargeForExit(head.tenant, child);
    head.reject(
      new MappingError({
        part: partOf(head.mapping),
        message: `${nameOf(head.mapping)} took longer than ${timeoutMs.toLocaleString("en")} ms. Use fewer loops, or show less of the payload.`,
        line: null,
      }),
    );
    this.#replace(child);
    child.process.kill();
  }

  #onExit(child: Child): void {
    if (child !== this.#child) return;
    const { log, heapMib } = this.#options;
    if (!child.isReady) {
      this.#failStart();
      return;
    }
    const [head, ...others] = child.inFlight;
    if (head !== undefined) {
      log.write("the process of a filter or message template exited", {
        workspace_id: head.tenant,
      });
      this.#chargeForExit(head.tenant, child);
      if (head.hadExit) {
        child.inFlight = others;
        head.reject(
          new MappingError({
            part: partOf(head.mapping),
            message: `${nameOf(head.mapping)} needed more than ${heapMib} MiB of memory. Show less of the payload.`,
            line: null,
          }),
        );
      }
      head.hadExit = true;
    }
    this.#replace(child);
  }

  /** Puts the child's requests back into the queue, and continues with a new child. */
  #replace(child: Child): void {
    clearTimeout(this.#limitTimer);
    this.#child = undefined;
    this.#queue.putBack(child.inFlight.map((item) => ({ tenant: item.tenant, item })));
    child.inFlight = [];
    this.#pump();
  }

  #failStart(): void {
    clearTimeout(this.#startTimer);
    this.#child = undefined;
    this.#failedStarts += 1;
    if (this.#failedStarts < maxFailedStarts) {
      this.#pump();
      return;
    }
    this.#failedStarts = 0;
    this.#options.log.write("the process of filters and message templates does not start", {});
    for (const job of this.#queue.remove(() => true))
      job.reject(
        new ApiError(
          "unavailable",
          "The process that evaluates filters and templates cannot be started. Send the request again later.",
          { retryAfter: 5 },
        ),
      );
  }

  #rejectOld(): void {
    const since = performance.now() - maxWaitMs;
    for (const job of this.#queue.remove(({ queuedAt }) => queuedAt < since)) job.reject(tooMany());
    if (this.#queue.size > 0) return;
    clearInterval(this.#waitTimer);
    this.#waitTimer = undefined;
  }

  /**
   * Charges a tenant whose evaluation ended the child. All tenants wait until the next child is
   * ready, so this tenant is then charged the time of its start, too.
   */
  #chargeForExit(tenant: string, child: Child): void {
    this.#charge(tenant, performance.now() - child.headStartedAt);
    this.#chargedForStart = tenant;
  }

  #charge(tenant: string, ms: number): void {
    this.#queue.charge(tenant, ms);
    const mean = this.#meanMs.get(tenant) ?? ms;
    this.#meanMs.set(tenant, mean + (ms - mean) / 8);
  }
}

/**
 * Time that a child gets after the limit before it is killed. LiquidJS has the same limit, and
 * usually stops the rendering first, with an error that names the line of the template.
 */
const graceMs = 25;

const partOf = ({ template }: Mapping) => (template === null ? "filter" : "template");

function nameOf({ filter, template }: Mapping): string {
  if (template === null) return "The filter";
  return filter === null ? "The template" : "Filter and template";
}

function tooMany(): ApiError {
  return new ApiError(
    "unavailable",
    "Too many requests wait for their filter or template. Send the request again in a few seconds.",
    { retryAfter: 2 },
  );
}

function stopping(): ApiError {
  return new ApiError("unavailable", "This server is stopping. Send the request again.", {
    retryAfter: 1,
  });
}
