import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { enablesDebugger, watchServer } from "./watch-server.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

const maxSilentMs = 60_000;
const intervalMs = 5_000;

/** A watched server. `isHanging`: it does not reply to pings. */
function watched({ isHanging }: { isHanging: boolean }) {
  const server = { isHanging, pings: 0, hangs: 0 };
  let time = 0;
  const send = () => {
    server.pings++;
    if (!server.isHanging) watch.replied();
    return true;
  };
  const watch = watchServer(
    { connected: true, send },
    { maxSilentMs, onHang: () => server.hangs++, now: () => time },
  );
  /** Lets the supervisor run on time. */
  const run = (ms: number) => {
    for (let left = ms; left > 0; left -= intervalMs) {
      time += intervalMs;
      vi.advanceTimersByTime(intervalMs);
    }
  };
  /** Suspends the supervisor. A timer that was due meanwhile fires once, afterwards. */
  const suspend = (ms: number) => {
    time += ms;
    vi.advanceTimersByTime(intervalMs);
  };
  return { server, watch, run, suspend };
}

test("a server that replies is pinged every few seconds, for as long as it is watched", () => {
  const { server, watch, run } = watched({ isHanging: false });
  run(10 * maxSilentMs);
  expect(server).toMatchObject({ pings: 120, hangs: 0 });
  watch.stop();
  run(maxSilentMs);
  expect(server).toMatchObject({ pings: 120, hangs: 0 });
});

test("a server hangs, once, if it has not replied for the maximum time", () => {
  const { server, run } = watched({ isHanging: true });
  run(maxSilentMs);
  expect(server.hangs).toBe(0);
  run(intervalMs);
  expect(server.hangs).toBe(1);
  run(2 * maxSilentMs);
  expect(server).toMatchObject({ pings: 12, hangs: 1 });
});

test("a server that replies late does not hang", () => {
  const { server, watch, run } = watched({ isHanging: true });
  run(maxSilentMs);
  watch.replied();
  run(maxSilentMs);
  expect(server.hangs).toBe(0);
});

test("a time in which the supervisor was suspended does not count", () => {
  const { server, run, suspend } = watched({ isHanging: true });
  run(maxSilentMs - intervalMs);
  suspend(100 * maxSilentMs);
  expect(server.hangs).toBe(0);
  run(maxSilentMs - intervalMs);
  expect(server.hangs).toBe(0);
  run(intervalMs);
  expect(server.hangs).toBe(1);
});

test("a debugger is recognized in the flags of Node.js and in NODE_OPTIONS", () => {
  expect(enablesDebugger(["--disable-sigusr1"], "--max-old-space-size=700")).toBe(false);
  expect(enablesDebugger(["--disable-sigusr1"])).toBe(false);
  expect(enablesDebugger(["--inspect=0"])).toBe(true);
  expect(enablesDebugger([], "--enable-source-maps --inspect-brk")).toBe(true);
});
