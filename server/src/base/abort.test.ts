import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { linkAbort, raceSignal, untilWoken } from "./abort.ts";

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

test("a wake-up, also a synchronous one, unsubscribes once and removes the listener", async () => {
  for (const wakesAtOnce of [true, false]) {
    const { signal } = new AbortController();
    let unsubscribed = 0;
    let later = () => {};
    const woken = untilWoken(signal, (wake) => {
      later = wake;
      if (wakesAtOnce) wake();
      return () => unsubscribed++;
    });
    for (const _ of [1, 2]) later();
    await woken;
    expect([unsubscribed, listenersOf(signal)]).toEqual([1, 0]);
  }
});

test("an abort resolves the wait, and an aborted signal prevents the subscription", async () => {
  const controller = new AbortController();
  let subscribed = 0;
  const subscribe = () => {
    subscribed++;
    return () => subscribed--;
  };
  const woken = untilWoken(controller.signal, subscribe);
  expect(subscribed).toBe(1);
  controller.abort();
  await woken;
  await untilWoken(controller.signal, subscribe);
  expect(subscribed).toBe(0);
});

test("after an abort the promise is ignored, and without one the listener is removed", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  expect(await raceSignal(Promise.resolve("won"), signal)).toBe("won");
  await expect(raceSignal(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
  expect(listenersOf(signal)).toBe(0);
  const late = Promise.withResolvers<void>();
  const raced = raceSignal(late.promise, signal);
  controller.abort(new Error("stopped"));
  await expect(raced).rejects.toThrow("stopped");
  late.reject(new Error("too late"));
});

test("a linked controller aborts with its signal, also an aborted one, until it is released", () => {
  const controller = new AbortController();
  const { signal } = controller;
  const [linked, released] = [linkAbort(signal), linkAbort(signal)];
  released.release();
  controller.abort("stopped");
  expect([linked.controller.signal.reason, linkAbort(signal).controller.signal.reason]).toEqual([
    "stopped",
    "stopped",
  ]);
  expect([released.controller.signal.aborted, listenersOf(signal)]).toEqual([false, 0]);
});
