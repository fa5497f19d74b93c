import { LRUCache } from "lru-cache";
import { elapsed } from "./clock.ts";

/** What was counted by one key since its window began. */
export interface Window {
  readonly count: number;
  /** On the clock of `base/clock.ts`. */
  readonly endsAt: number;
}

/**
 * Counts by key in windows of fixed length. A window begins with the first count after the last one
 * has ended. Beyond `maxKeys` the key that was used least recently is forgotten.
 */
export class FixedWindowCounter {
  readonly #windowMs: number;
  readonly #windows: LRUCache<string, { count: number; readonly endsAt: number }>;

  constructor({ windowMs, maxKeys }: { readonly windowMs: number; readonly maxKeys: number }) {
    this.#windowMs = windowMs;
    this.#windows = new LRUCache({ max: maxKeys });
  }

  /** The key's open window; undefined if it has none. */
  get(key: string): Window | undefined {
    return this.#open(key);
  }

  /** Counts one more. */
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
