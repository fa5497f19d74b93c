import { LRUCache } from "lru-cache";
import { elapsed } from "./clock.ts";

/** The count of one key of a `FixedWindowCounter` in its current window. */
export interface Window {
  readonly count: number;
  /** End of the window in milliseconds of `elapsed()`. */
  readonly endsAt: number;
}

/** Returns the whole seconds until the window ends, at least 1. */
export function secondsLeft({ endsAt }: Window): number {
  // Rounded to milliseconds first. Otherwise a floating-point error slightly above a whole number
  // of seconds would be rounded up to the next second.
  return Math.max(1, Math.ceil(Math.round(endsAt - elapsed()) / 1_000));
}

/**
 * Counts calls of `add` per key, in windows of fixed length. A key is any text here, for example an
 * IP address. A key's window begins with the first call after its previous window has ended.
 * When there are more than `maxKeys` keys, the least recently used key is dropped, and its count
 * starts again from 0.
 */
export class FixedWindowCounter {
  readonly #windowMs: number;
  readonly #windows: LRUCache<string, { count: number; readonly endsAt: number }>;

  constructor({ windowMs, maxKeys }: { readonly windowMs: number; readonly maxKeys: number }) {
    this.#windowMs = windowMs;
    this.#windows = new LRUCache({ max: maxKeys });
  }

  /** Returns the key's current window; undefined if there was none or it has ended. */
  get(key: string): Window | undefined {
    return this.#open(key);
  }

  /** Adds one to the key's count and returns its window. */
  add(key: string): Window {
    const window = this.#open(key) ?? { count: 0, endsAt: elapsed() + this.#windowMs };
    window.count++;
    this.#windows.set(key, window);
    return window;
  }

  #open(key: string) {
    const window = this.#windows.get(key);
    return window !== undefined && window.endsAt > elapsed() ? window : undefined;
  }
}
