import type { DeliveryKind, DisabledReason } from "@beckon/contract";
import { elapsed, pause, undefinedAfter } from "../base/clock.ts";
import { attemptTask, type Batcher, createBatcher } from "../base/database/index.ts";
import { onBehalfOf } from "../base/egress/index.ts";
import { messageOf, stackOf } from "../base/errors.ts";
import type { HeapGuard } from "../base/heap-guard.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics/index.ts";
import { isFirstProcess } from "../processes/index.ts";
import {
  type Attempted,
  type AttemptPorts,
  attemptDelivery,
  failedInternally,
  released,
} from "./attempt.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-statement.ts";
import { disableSubscription } from "./disable.ts";
import { Lane } from "./lane.ts";
import { closeDeliveries, failExcess, findBacklogs } from "./maintenance-store.ts";
import { type Outcome, recordOutcomes } from "./outcome-statement.ts";

/** Services and limits of the sender. */
export interface SenderOptions extends AttemptPorts {
  readonly log: Log;
  readonly metrics: Pick<Metrics, "count" | "observe">;
  /** While the heap is full, nothing is claimed. */
  readonly heap: Pick<HeapGuard, "isFull">;
  /** This process. Its id changes if it is declared dead, so each sweep reads the id. */
  readonly process: { readonly id: string };
  /**
   * Maximum pending deliveries of events of one subscription. Above it the subscription is
   * disabled. Also the maximum of its pending callbacks, and of its pending tests: see
   * `failExcess`.
   */
  readonly maxPending: number;
  /**
   * A subscription is disabled if all its attempts have failed for this long, in seconds. The time
   * starts again if there was no attempt for this long.
   */
  readonly maxFailingSeconds: number;
  /**
   * Time between two sweeps in milliseconds. A sweep closes the pending deliveries of subscriptions
   * that are not enabled, and enforces `maxPending`. Only one of the processes that send deliveries
   * sweeps, because a sweep reads up to `maxPending` deliveries of each subscription.
   */
  readonly sweepMs: number;
}

/** Limits in production. Tests of Beckon can replace them. */
export const defaultDeliveryLimits = {
  maxPending: 100_000,
  maxFailingSeconds: 5 * 24 * 3_600,
  sweepMs: 10_000,
};

/** Sends the deliveries that are due. */
export interface Sender {
  /** Makes the sender poll soon, because deliveries may be due, or a subscription has changed. */
  wake(): void;
  /** Must be called after events were written. Wakes the sender if there is a subscription. */
  noteWritten(): void;
  /**
   * Claims nothing more and waits up to `graceMs` for the attempts in progress. The attempts that
   * are then not finished are aborted. Their deliveries are released, so that another process sends
   * them at once.
   */
  stop(graceMs: number): Promise<void>;
}

/** Maximum deliveries that a process has claimed: in total, and of subscriptions that fail. */
const maxClaimed = 1_024;
const maxFailing = 512;
/**
 * Maximum deliveries of one claim. It is less than half of `maxClaimed`, so that a process that was
 * idle does not give all its capacity to the first receivers that have a backlog.
 */
const maxPerClaim = 256;
/**
 * Maximum attempts that a process makes at the same time for one subscription. Callbacks get few,
 * because their failures do not count for the health of the subscription: if they hang, they are
 * not limited to one at a time, as events are.
 */
const maxConcurrent: Readonly<Record<DeliveryKind, number>> = { event: 10, callback: 5, test: 2 };
/**
 * Maximum deliveries of one subscription and kind that a process has claimed, as a multiple of
 * `maxConcurrent`. It is more than 1, so that a fast receiver does not wait for the next claim. It
 * is 1 while the process has claimed half of `maxClaimed` or more.
 */
const maxAhead = 4;

/** Time between polls while a workspace has subscriptions, and while none has. */
const pollMs = 250;
const idlePollMs = 1_000;
/**
 * Minimum time from one claim to the next, after a claim that found something, and after one that
 * found nothing. It makes claims larger under load, and rare while all receivers are busy.
 */
const minGapMs = { found: 20, empty: 100 };
/**
 * Under load, the minimum time between two claims grows to this many times the delay of the event
 * loop, up to `pollMs`.
 */
const lagsPerGap = 5;
/**
 * Delay of the event loop above which the sender claims fewer deliveries, in milliseconds, so that
 * the process handles API requests first.
 */
const maxLagMs = 20;

/** Starts a sender, which claims and sends due deliveries until its `stop` is called. */
export function startSender(options: SenderOptions): Sender {
  const { database, log, metrics } = options;
  const stopping = new AbortController();
  /** The lanes that have claimed deliveries. The keys come from `laneKey`. */
  const lanes = new Map<string, Lane>();
  /** Writes of outcomes that have not finished. `stop` waits for them. */
  const recording = new Set<Promise<void>>();
  // The lease of a delivery must not expire before its attempt ends: it is longer than the maximum
  // wait in a lane plus the maximum wait for memory plus the maximum time of an attempt.
  const maxWaitMs = 1.3 * options.timeoutMs;
  const leaseSeconds = (3 * options.timeoutMs) / 1_000;
  let someSubscriptions = false;
  let nextDueMs = pollMs;
  let lagMs = 1;
  let woken = Promise.withResolvers<void>();
  /**
   * Whether outcomes could not be written at once, and some are still in memory. Their leases can
   * have expired, so that a claim would send these deliveries a second time.
   */
  let someLate = false;

  const outcomes: Batcher<Outcome, void> = createBatcher({
    write: async (rows, { resent }) => {
      if (resent) someLate = true;
      // What is sent now is sent a second time if this process exits before the database is back.
      if (outcomes.stalled) for (const lane of lanes.values()) lane.releaseWaiting();
      const { maxFailingSeconds } = options;
      const failing = await recordOutcomes(database, rows, { maxGapSeconds: maxFailingSeconds });
      for (const each of failing)
        if (each.failingSeconds > maxFailingSeconds)
          void disable({ ...each, minFailingSeconds: maxFailingSeconds }, "failing");
      return rows.map(() => undefined);
    },
    order: ({ subscriptionId, deliveryId }) => `${subscriptionId} ${deliveryId}`,
    bytes: ({ attemptLog }) => 500 + (attemptLog?.responseBody.length ?? 0),
    maxRows: 200,
    maxBytes: 4 * 1024 * 1024,
  });

  function disable(
    subscription: Parameters<typeof disableSubscription>[1],
    reason: DisabledReason,
  ): Promise<unknown> {
    return attemptTask(log, "disabling a subscription", async () => {
      if (!(await disableSubscription(database, subscription, reason))) return;
      log.write("a subscription was disabled", { subscription_id: subscription.id, reason });
      wake();
    });
  }

  /**
   * Like `attemptDelivery`, but an unexpected error is an outcome, too. Without one, each process
   * would claim the delivery again when its lease has expired, and would fail in the same way.
   */
  async function attemptOrFail(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Attempted> {
    try {
      return await onBehalfOf(delivery.workspace_id, () =>
        attemptDelivery(options, delivery, signal),
      );
    } catch (thrown) {
      log.write("an attempt of a delivery ended with an internal error", {
        delivery_id: delivery.id,
        subscription_id: delivery.subscription_id,
        reason: messageOf(thrown),
        stack: stackOf(thrown),
      });
      const outcome = failedInternally(options, delivery);
      return { outcome, isGone: false, isDatabaseLost: false };
    }
  }

  /** Sends one delivery and records the outcome. @returns the kind of the outcome. */
  async function send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Outcome["kind"]> {
    const { outcome, isGone, isDatabaseLost } = await attemptOrFail(delivery, signal);
    recordAndFree(delivery, outcome);
    logOutcome(delivery, outcome);
    // While the database is lost, no outcome can be recorded. If the waiting deliveries were sent
    // now, they would be sent a second time later.
    if (isDatabaseLost) lanes.get(laneKey(delivery))?.releaseWaiting();
    if (isGone) {
      const { subscription_id: id, workspace_id: workspaceId } = delivery;
      await disable({ id, workspaceId, version: delivery.subscription_version }, "gone");
    }
    return outcome.kind;
  }

  function logOutcome(delivery: ClaimedDelivery, { kind, attemptLog }: Outcome): void {
    const { subscription_id } = delivery;
    // Callbacks have other URLs, so they have outages of their own.
    const key = delivery.kind === "callback" ? laneKey(delivery) : subscription_id;
    if (attemptLog !== undefined) {
      metrics.count("beckon_deliveries_total", [kind]);
      metrics.observe("beckon_delivery_duration_seconds", [], attemptLog.durationMs / 1_000);
    }
    if (kind === "succeeded") log.outages.receivers.succeeded(key);
    else if (attemptLog !== undefined)
      log.outages.receivers.failed(key, {
        delivery_id: delivery.id,
        subscription_id,
        attempt: delivery.attempts,
        final: kind === "failed",
        status: attemptLog.status,
        duration_ms: attemptLog.durationMs,
        reason: attemptLog.error ?? "",
      });
  }

  function recordAndFree(delivery: ClaimedDelivery, outcome: Outcome): void {
    const recorded = record(delivery, outcome).finally(() => recording.delete(recorded));
    recording.add(recorded);
  }

  async function record(delivery: ClaimedDelivery, outcome: Outcome): Promise<void> {
    // If the outcome cannot be recorded, the delivery is sent again when its lease expires.
    await attemptTask(log, "recording a delivery", () => outcomes.submit(outcome));
    const key = laneKey(delivery);
    const lane = lanes.get(key);
    if (lane === undefined) return;
    const left = lane.free();
    if (left === 0) lanes.delete(key);
    // Claims more at once if the lane has fewer deliveries left than it can send at the same time.
    // Otherwise the next poll is early enough.
    if (left < maxConcurrent[lane.kind]) wake();
  }

  function laneOf(delivery: ClaimedDelivery): Lane {
    const key = laneKey(delivery);
    let lane = lanes.get(key);
    if (lane === undefined) {
      lane = new Lane({
        subscriptionId: delivery.subscription_id,
        kind: delivery.kind,
        maxConcurrent: maxConcurrent[delivery.kind],
        maxWaitMs,
        send,
        release: (waiting) => recordAndFree(waiting, released(waiting)),
      });
      lanes.set(key, lane);
    }
    return lane;
  }

  /** Claims deliveries and starts to send them. @returns whether any was claimed. */
  async function claim(): Promise<boolean> {
    lagMs = await eventLoopLag();
    const all = [...lanes.values()];
    const claimed = all.reduce((sum, lane) => sum + lane.claimed, 0);
    const failing = all.reduce((sum, lane) => sum + (lane.isFailing ? lane.claimed : 0), 0);
    const capacity = Math.ceil(maxClaimed * Math.min(1, maxLagMs / lagMs));
    const ahead = claimed < maxClaimed / 2 ? maxAhead : 1;
    if (outcomes.pending === 0) someLate = false;
    const claimsNone = options.heap.isFull || someLate;
    // The reply may be read late, for example because this process was stopped.
    const claimedAt = elapsed();
    const result = await claimDeliveries(database, {
      busy: [...lanes].map(([lane, { subscriptionId, kind, claimed, version }]) => ({
        lane,
        subscriptionId,
        kind,
        claimed,
        version,
      })),
      max: claimsNone ? 0 : Math.min(maxPerClaim, Math.max(0, capacity - claimed)),
      maxFailing: Math.max(0, maxFailing - failing),
      maxOfOne: {
        event: ahead * maxConcurrent.event,
        callback: ahead * maxConcurrent.callback,
        test: ahead * maxConcurrent.test,
      },
      leaseSeconds,
    });
    someSubscriptions = result.someSubscriptions;
    nextDueMs = result.nextDueMs ?? pollMs;
    // If the subscription is still enabled, the released deliveries are claimed again, at once or
    // after the requested delay, with the new URL, secret and headers. Attempts in progress end:
    // receivers may have got their requests.
    for (const key of result.changed) lanes.get(key)?.releaseWaiting();
    for (const delivery of result.claimed) {
      const lane = laneOf(delivery);
      lane.add(delivery, claimedAt);
      if (stopping.signal.aborted) lane.releaseWaiting();
    }
    return result.claimed.length > 0;
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = Promise.withResolvers();
      const start = elapsed();
      const found = await attemptTask(log, "claiming deliveries", claim);
      await undefinedAfter(
        woken.promise,
        someSubscriptions ? Math.min(pollMs, nextDueMs) : idlePollMs,
      );
      // Under load, the gap between claims grows: few large claims are cheaper, because claiming
      // many deliveries costs about as much as claiming one.
      const lengthenedMs = Math.min(pollMs, lagsPerGap * lagMs);
      const wantedMs = Math.max(minGapMs[found ? "found" : "empty"], lengthenedMs);
      const gapMs = wantedMs - (elapsed() - start);
      if (gapMs > 0) await pause(gapMs, stopping.signal);
    }
  }

  async function sweepRegularly(): Promise<void> {
    while (!stopping.signal.aborted) {
      const sweeps = await attemptTask(log, "finding the process that sweeps", () =>
        isFirstProcess(database.engine, options.process.id),
      );
      if (sweeps) await sweep();
      await pause(options.sweepMs, stopping.signal);
    }
  }

  async function sweep(): Promise<void> {
    const more = () => !stopping.signal.aborted;
    await attemptTask(log, "closing deliveries", async () => {
      while ((await closeDeliveries(database)) && more());
    });
    await attemptTask(log, "failing excess callbacks", async () => {
      let deliveries = 0;
      let last: number;
      do {
        last = await failExcess(database, options.maxPending);
        deliveries += last;
      } while (last > 0 && more());
      if (deliveries > 0)
        log.write("callbacks or tests failed because too many were pending", { deliveries });
    });
    await attemptTask(log, "finding backlogs", async () => {
      for (const each of await findBacklogs(database, options.maxPending))
        await disable(each, "backlog");
    });
  }

  function wake(): void {
    woken.resolve();
  }

  const working = Promise.all([poll(), sweepRegularly()]);
  return {
    wake,
    noteWritten() {
      if (someSubscriptions) wake();
    },
    async stop(graceMs) {
      stopping.abort();
      wake();
      await working;
      for (const lane of lanes.values()) lane.releaseWaiting();
      const finished = Promise.all([...lanes.values()].map((lane) => lane.idle()));
      await undefinedAfter(finished, graceMs);
      for (const lane of lanes.values()) lane.abort();
      await finished;
      await undefinedAfter(Promise.all(recording), maxRecordMs);
    },
  };
}

/** Returns the key of a delivery's lane. */
const laneKey = ({ subscription_id, kind }: ClaimedDelivery) => `${subscription_id} ${kind}`;

/** Maximum time that a stop waits until the database has written the outcomes. */
const maxRecordMs = 5_000;

/** Returns the delay of the event loop in milliseconds, at least 1. */
async function eventLoopLag(): Promise<number> {
  const start = elapsed();
  await new Promise<void>((resolve) => setImmediate(resolve));
  return Math.max(1, elapsed() - start);
}
