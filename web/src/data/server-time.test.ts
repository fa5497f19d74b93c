import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readingTime, serverNow, toServerTime } from "./server-time.ts";

const hourMs = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** Gets a response with this `Date`. */
const get = (headers: HeadersInit) =>
  readingTime(() => Promise.resolve(new Response("", { headers })))("/api/public/me");

test.each([
  ["slow", hourMs],
  ["fast", -hourMs],
])("the server's time is known although the browser's clock is %s", async (_, aheadMs) => {
  await get({ date: new Date(Date.now() + aheadMs).toUTCString() });
  vi.advanceTimersByTime(hourMs);
  const lateMs = serverNow() - (Date.now() + aheadMs);
  expect(lateMs).toBeGreaterThan(0);
  expect(lateMs).toBeLessThanOrEqual(1_000);
});

test("the time does not go back because the server sends whole seconds only", async () => {
  vi.setSystemTime("2026-11-26T09:00:00.000Z");
  await get({ date: new Date().toUTCString() });
  const first = serverNow();
  vi.advanceTimersByTime(999);
  await get({ date: new Date().toUTCString() });
  expect(serverNow() - first).toBe(999);
});

test("after a slow response, the next one corrects the time", async () => {
  vi.setSystemTime("2026-11-26T09:00:01.900Z");
  // The module still has the time offset of an earlier test. Only a large decrease replaces it, so
  // here the server's clock is a day behind the browser's.
  const serverTime = () => Date.now() - 24 * hourMs;
  await get({ date: new Date(serverTime() - 1_900).toUTCString() });
  expect(serverNow()).toBeLessThan(serverTime());
  await get({ date: new Date(serverTime()).toUTCString() });
  expect(serverNow()).toBeGreaterThan(serverTime());
});

test.each([-300_000, 300_000])(
  "a shown time is the server's, which is %i ms ahead",
  async (aheadMs) => {
    await get({ date: new Date(Date.now() + aheadMs).toUTCString() });
    const lateMs = toServerTime() - (Date.now() + aheadMs);
    expect(lateMs).toBeGreaterThan(0);
    expect(lateMs).toBeLessThanOrEqual(1_000);
  },
);

test("a shown time is the browser's if its clock is exact", async () => {
  // The module still has the time offset of an earlier test. A decrease of an hour replaces it. The
  // exact time that follows is an increase, which is never ignored.
  await get({ date: new Date(Date.now() - hourMs).toUTCString() });
  await get({ date: new Date().toUTCString() });
  expect(toServerTime()).toBe(Date.now());
});

test("a response without the time changes nothing", async () => {
  const before = serverNow();
  await get({});
  expect(serverNow()).toBe(before);
});
