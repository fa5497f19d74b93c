import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { defaultReserveOutputTokens } from "@beckon/contract";
import { elapsed } from "../../base/clock.ts";
import type { AttemptLimit, ChosenBound } from "../call-limit.ts";
import type { MeteredCall } from "../metered-call.ts";
import { outputBoundOption } from "../models/index.ts";
import type { RunRequest } from "../run-request.ts";

/** Reserves what the attempts of one model call can use, if a limit applies to the run. */
export class AttemptLimiter {
  readonly #request: RunRequest;
  readonly #options: LanguageModelV4CallOptions;
  readonly #runCostMicros: () => number | null;
  #limit: AttemptLimit | undefined;
  /** Number of earlier attempts that had used tokens when `#limit` was reserved. */
  #reservedAfter = 0;
  /** The revision of the limits that `#limit` takes into account; undefined if there were none. */
  #revision: number | undefined;
  /**
   * Whether the last call of `mustReserveAgain` returned true because of a change other than the
   * workspace's first limit. Such a change counts only once for each attempt.
   */
  #hasReservedAgain = false;

  constructor(
    request: RunRequest,
    options: LanguageModelV4CallOptions,
    runCostMicros: () => number | null,
  ) {
    this.#request = request;
    this.#options = options;
    this.#runCostMicros = runCostMicros;
  }

  /** The options of the next attempt, with its output bound if there is one. */
  get options(): LanguageModelV4CallOptions {
    const bound = this.#limit?.maxOutputTokens ?? this.chosenBound?.maxOutputTokens;
    return bound === undefined ? this.#options : { ...this.#options, ...outputBoundOption(bound) };
  }

  /** The output bound of the next attempt, if Beckon chose it. */
  get chosenBound(): ChosenBound | undefined {
    const { settings, model, reserveOutputTokens = defaultReserveOutputTokens } = this.#request;
    if (settings.max_output_tokens !== undefined) return undefined;
    const byLimit = this.#limit?.maxOutputTokens;
    if (byLimit !== undefined) return { maxOutputTokens: byLimit, reason: "limit" };
    return model.requiresBound === true
      ? { maxOutputTokens: reserveOutputTokens, reason: "api" }
      : undefined;
  }

  get endOfTruncated(): AttemptLimit["endOfTruncated"] {
    return this.#limit?.endOfTruncated;
  }

  /**
   * Reserves what the next attempt can use. If no attempt has used tokens since the last
   * reservation and no limit has changed, keeps that reservation for the next attempt.
   * @param earlier the earlier attempts of the same model call that were sent.
   * @returns the time that the reservation took, in milliseconds.
   */
  async reserve(earlier: readonly MeteredCall[]): Promise<number> {
    const { limitAttempt, limitRevision, signal } = this.#request;
    const spent = earlier.filter(({ usage }) => usage.input_tokens + usage.output_tokens > 0);
    if (spent.length === this.#reservedAfter && this.#limit?.coversNext()) return 0;
    const attempt = {
      bytes: () => bytesOf(this.#options),
      isFirst: earlier.length === 0,
      earlier: spent,
      runCostMicros: this.#runCostMicros,
    };
    const startedAt = elapsed();
    // The revision is read before the reservation is made. If a limit changes meanwhile, the
    // reservation may miss the change, but `mustReserveAgain` then sees another revision.
    this.#revision = limitRevision?.();
    const limiting = limitAttempt?.(attempt, signal);
    this.#limit = await limiting;
    if (limiting === undefined) return 0;
    // The workspace has no limit any more, so a new limit counts as its first: see
    // `mustReserveAgain`.
    if (limitRevision?.() === undefined) this.#revision = undefined;
    this.#reservedAfter = spent.length;
    return elapsed() - startedAt;
  }

  /**
   * Returns whether `reserve` must be called again before the next attempt, because nothing is
   * reserved for it and limits have changed while it waited for the circuit. Must be called
   * immediately before the attempt.
   *
   * The first limit of a workspace always counts. Other changes count only once for each attempt:
   * in a busy workspace the revision changes all the time, and if every change counted, the run
   * would wait for the circuit again and again.
   */
  mustReserveAgain(): boolean {
    const revision = this.#limit?.isReserved ? undefined : this.#request.limitRevision?.();
    const hasChanged = revision !== undefined && revision !== this.#revision;
    const isFirst = this.#revision === undefined;
    const again = hasChanged && (isFirst || !this.#hasReservedAgain);
    this.#hasReservedAgain = again && !isFirst;
    return again;
  }
}

/** Returns the size of a request in bytes of UTF-8. */
export function bytesOf({ prompt, tools = [] }: LanguageModelV4CallOptions): number {
  const sent = JSON.stringify(prompt) + (tools.length > 0 ? JSON.stringify(tools) : "");
  return Buffer.byteLength(sent);
}
