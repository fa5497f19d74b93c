import type { DeliveryKind } from "@beckon/contract";
import { elapsed } from "../base/clock.ts";
import type { ClaimedDelivery } from "./claim-statement.ts";
import type { Outcome } from "./outcome-statement.ts";

export interface LaneOptions {
  readonly subscriptionId: string;
  readonly kind: DeliveryKind;
  readonly maxConcurrent: number;
  /**
   * Milliseconds after its claim after which a delivery that still waits is released and not sent,
   * because its lease could expire during the attempt.
   */
  readonly maxWaitMs: number;
  /**
   * Sends a delivery. Should not reject; if it does, the lane sends the next one.
   * @returns the kind of the outcome.
   */
  readonly send: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Outcome["kind"]>;
  /** Releases the claim of a delivery that was not sent. */
  readonly release: (delivery: ClaimedDelivery) => void;
}

/**
 * Milliseconds after its claim after which a delivery that still waits is sent without the data of
 * the claim. The attempt reads the data again, because the run can have been deleted. It is enough
 * that deliveries to fast receivers, which wait for a short time, need no such query.
 */
const maxDataAgeMs = 1_000;

/**
 * The deliveries of one subscription and kind that this process has claimed: a few are being sent,
 * others wait. When one fails, those that wait are released, because a receiver that fails gets one
 * delivery at a time. Each kind has a lane of its own, because callbacks have other URLs: if these
 * hang or fail, events do not wait and are not released.
 */
export class Lane {
  readonly subscriptionId: string;
  readonly kind: DeliveryKind;
  readonly #options: LaneOptions;
  #waiting: { readonly delivery: ClaimedDelivery; readonly claimedAt: number }[] = [];
  readonly #sending = new Map<AbortController, Promise<void>>();
  /** Number of deliveries that were added and for which `free` was not called yet. */
  #claimed = 0;
  #isFailing = false;
  #version = 0;

  constructor(options: LaneOptions) {
    this.subscriptionId = options.subscriptionId;
    this.kind = options.kind;
    this.#options = options;
  }

  get claimed(): number {
    return this.#claimed;
  }

  /**
   * Whether the subscription's last attempt failed, as far as this process knows. Callbacks do not
   * count: the claim statement regards the subscription as healthy after a callback has failed.
   */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Version that the subscription had when the last delivery was claimed. */
  get version(): number {
    return this.#version;
  }

  /**
   * Adds a delivery, which is sent as soon as its turn has come.
   * @param claimedAt when the claim was sent, as a value of `elapsed()`: its lease can be that old.
   */
  add(delivery: ClaimedDelivery, claimedAt: number): void {
    this.#claimed += 1;
    this.#version = delivery.subscription_version;
    this.#isFailing = delivery.is_failing || (this.kind !== "callback" && this.#isFailing);
    this.#waiting.push({ delivery, claimedAt });
    this.#next();
  }

  /**
   * Counts a delivery as no longer claimed. Must be called once for each delivery that was added,
   * after its outcome was recorded or could not be recorded.
   * @returns how many deliveries are still claimed.
   */
  free(): number {
    this.#claimed -= 1;
    return this.#claimed;
  }

  /** Releases the deliveries that are not being sent. */
  releaseWaiting(): void {
    for (const { delivery } of this.#waiting.splice(0)) this.#options.release(delivery);
  }

  /** Releases all deliveries. Those that are being sent are aborted. */
  abort(): void {
    this.releaseWaiting();
    for (const sending of this.#sending.keys()) sending.abort();
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  #next(): void {
    while (this.#sending.size < this.#options.maxConcurrent) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const { delivery, claimedAt } = next;
      const waitedMs = elapsed() - claimedAt;
      if (waitedMs > this.#options.maxWaitMs) this.#options.release(delivery);
      else this.#send(waitedMs > maxDataAgeMs ? { ...delivery, data: null } : delivery);
    }
  }

  #send(delivery: ClaimedDelivery): void {
    const aborting = new AbortController();
    const ended = (outcome: Outcome["kind"]) => {
      this.#sending.delete(aborting);
      const isFailed = outcome === "retry" || outcome === "failed";
      // A delivery that was released says nothing about the receiver.
      if (this.kind !== "callback" && outcome !== "released") this.#isFailing = isFailed;
      if (isFailed) this.releaseWaiting();
      else this.#next();
    };
    // An unhandled rejection would end the process.
    const sent = this.#options.send(delivery, aborting.signal).then(ended, () => ended("released"));
    this.#sending.set(aborting, sent);
  }
}
