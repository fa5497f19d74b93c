import { useSyncExternalStore } from "react";

/** Milliseconds between updates of relative times. */
const tickMs = 5_000;

const subscribers = new Set<() => void>();
let convert = (browserMs: number): number => browserMs;
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Sets the clock of `useNow`, by default the browser's. Times are shown relative to it, so it
 * should be the clock of the server that has sent them.
 * @param toClock converts a time of the browser's clock to one of this clock, both in Unix ms
 */
export function setClock(toClock: (browserMs: number) => number): void {
  convert = toClock;
}

/** Returns a time of the browser's clock as one of the clock of `useNow`, both in Unix ms. */
export function onClock(browserMs: number): number {
  return convert(browserMs);
}

function tick(): void {
  nowMs = onClock(Date.now());
  for (const notify of subscribers) notify();
}

function subscribe(notify: () => void): () => void {
  subscribers.add(notify);
  if (timer === undefined) {
    nowMs = onClock(Date.now());
    timer = setInterval(tick, tickMs);
  }
  return () => {
    subscribers.delete(notify);
    if (subscribers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Returns the current time in Unix ms, updated every 5 s by one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}

/**
 * Returns a text that depends on the current time. Renders again only when the text changes.
 * @param textAt must be cheap: it is called every 5 s
 */
export function useTextAtNow(textAt: (nowMs: number) => string): string {
  return useSyncExternalStore(subscribe, () => textAt(nowMs));
}
