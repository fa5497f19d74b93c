import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { createLog } from "../base/log.ts";
import { type EvaluationProcess, startChild } from "./child-process.ts";
import { EvaluationLane, type LaneOptions } from "./lane.ts";
import { MappingError, smallLimits } from "./mapping.ts";

const lanes: EvaluationLane[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const lane of lanes.splice(0)) lane.close();
});

/** Returns a new lane, the processes that it starts, and a function that renders a template. */
function open(options: Partial<LaneOptions> = {}) {
  const processes: (EvaluationProcess & { exited: Promise<void> })[] = [];
  const lane = new EvaluationLane({
    ...smallLimits,
    log: createLog("silent"),
    maxInFlight: 64,
    idleMs: null,
    start(limits, on) {
      const { promise: exited, resolve } = Promise.withResolvers<void>();
      const process = startChild(limits, {
        ...on,
        exit() {
          on.exit();
          resolve();
        },
      });
      processes.push({ ...process, exited });
      return process;
    },
    ...options,
  });
  lanes.push(lane);
  const render = async (tenant: string, template: string, text = "{}") => {
    const result = await lane.run(
      tenant,
      {
        kind: "evaluate",
        format: "json",
        filter: null,
        template,
        variables: {
          headers: {},
          query: {},
          event: { id: null, type: null },
          files: [],
          received_at: "",
        },
      },
      text,
    );
    return result.kind === "mapped" ? result.message : result.kind;
  };
  return { lane, processes, render };
}

test("a child that is killed at any moment loses no evaluation", async () => {
  const { processes, render } = open();
  await render("a", "warm");
  let done = false;
  const killing = (async () => {
    // Kills at most 2 children. On a slow machine, starting more of them would take longer than the
    // maximum time that evaluations wait in the queue (`maxWaitMs`).
    for (let kills = 0; kills < 2 && !done; kills++) {
      const last = processes.at(-1);
      last?.kill();
      await last?.exited;
      // Waits for the next child, so that the next round usually kills a child that has evaluated
      // something. If this evaluation fails, the next round can kill a child that is still
      // starting.
      await render("killer", "x").catch(() => {});
    }
  })();
  const results = await Promise.all(
    Array.from({ length: 300 }, (_, index) => render(`tenant ${index % 7}`, `{{ ${index} }}`)),
  );
  done = true;
  await killing;
  expect(results).toEqual(results.map((_, index) => String(index)));
  expect(processes.length).toBeGreaterThan(1);
});

test("an evaluation during which two children exit fails", async () => {
  const { processes, render } = open({ heapMib: 16, timeoutMs: 5_000 });
  await render("a", "warm");
  const json = JSON.stringify(Array.from({ length: 300_000 }, () => [[], []]));
  const others = Promise.all([1, 2, 3].map((each) => render("other", `${each}`)));
  const result = await render("greedy", "{{ payload | json | size }}", json).catch((e) => e);
  expect(result).toBeInstanceOf(MappingError);
  expect(result.message).toMatch(/needed more than 16 MiB/);
  expect(await others).toEqual(["1", "2", "3"]);
  expect(processes.length).toBeGreaterThanOrEqual(2);
});

test("evaluations fail if no child can be started, and the next ones try again", async () => {
  let isBroken = true;
  const { render } = open({
    start(limits, on) {
      const process = startChild(limits, on);
      if (isBroken) process.kill();
      return process;
    },
  });
  await expect(render("a", "x")).rejects.toMatchObject({ code: "unavailable" });
  isBroken = false;
  expect(await render("a", "x")).toBe("x");
});

test("evaluations fail if the system has no memory for a child, and the next ones try again", async () => {
  let isFull = true;
  const { render } = open({
    start(limits, on) {
      // `spawn` throws this error. Most of its other errors arrive as the event `error`.
      if (isFull) throw Object.assign(new Error("spawn ENOMEM"), { code: "ENOMEM" });
      return startChild(limits, on);
    },
  });
  await expect(render("a", "x")).rejects.toMatchObject({ code: "unavailable" });
  isFull = false;
  expect(await render("a", "x")).toBe("x");
});

test("a child for which no file descriptor is left exits", async () => {
  const script = `
    import { openSync } from "node:fs";
    import { startChild } from ${JSON.stringify(new URL("./child-process.ts", import.meta.url).href)};
    try { for (;;) openSync("/dev/null"); } catch {}
    const limits = ${JSON.stringify(smallLimits)};
    startChild(limits, { result() {}, exit: () => process.exit(42) });
    setTimeout(() => {}, 60_000);`;
  const shell = spawn(
    "sh",
    ["-c", 'ulimit -n 100 && exec "$0" --input-type=module --eval "$1"', process.execPath, script],
    { stdio: "ignore" },
  );
  expect(await once(shell, "exit")).toEqual([42, null]);
});

test("other tenants wait only for the long evaluations that were already sent to the child", async () => {
  // On a slow machine the evaluations take longer than the usual limit.
  const { render } = open({ timeoutMs: 5_000 });
  await render("a", "warm");
  const slow = "{% for i in (1..20000) %}{{ i }}{% endfor %}";
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  const heavy = Array.from({ length: 30 }, () => render("heavy", slow).then(note("heavy")));
  await heavy[0];
  const light = Array.from({ length: 10 }, () => render("light", "x").then(note("light")));
  await Promise.all([...heavy, ...light]);
  // When the light evaluations arrived, about ten heavy ones had already been sent to the child,
  // because their duration was not known yet. The ten light ones were evaluated next, and ended
  // before the last ten heavy ones.
  expect(order.lastIndexOf("light")).toBeLessThan(30);
});

test("long evaluations are sent to the child one by one when their duration is known", async () => {
  let written = 0;
  let onResult: Parameters<typeof startChild>[1]["result"] = () => {};
  const { render } = open({
    start(_limits, on) {
      onResult = on.result;
      return { write: () => void written++, usedMs: () => undefined, kill() {} };
    },
  });
  const results = Array.from({ length: 30 }, () => render("heavy", "x"));
  onResult({ kind: "ready" });
  // An evaluation of unknown duration counts as 1 ms, and the child is sent evaluations for 10 ms.
  expect(written).toBe(10);
  const inFlight = results.map((_, index) => {
    onResult({ kind: "mapped", ms: 50, passes: true, message: "x" });
    return written - (index + 1);
  });
  expect(inFlight.slice(10)).toEqual([...Array(19).fill(1), 0]);
  expect(await Promise.all(results)).toEqual(Array(30).fill("x"));
});

test("a tenant whose evaluation ends the child is charged until the next child is ready", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const children: Parameters<typeof startChild>[1][] = [];
  const written: string[] = [];
  const { render } = open({
    maxInFlight: 1,
    start(_limits, on) {
      children.push(on);
      return {
        write: (frame) => void written.push(/heavy|light/.exec(String(frame))?.[0] ?? ""),
        usedMs: () => undefined,
        kill() {},
      };
    },
  });
  const all = ["heavy", "heavy", "light", "light", "light", "light"].map((each) =>
    render(each, each),
  );
  const finish = () =>
    children.at(-1)?.result({ kind: "mapped", ms: 300, passes: true, message: "x" });
  children[0]?.result({ kind: "ready" });
  vi.advanceTimersByTime(500);
  children[0]?.exit();
  vi.advanceTimersByTime(500);
  children[1]?.result({ kind: "ready" });
  // The first evaluation is repeated. The tenant has then used 1,300 ms.
  for (let index = 0; index < 6; index++) finish();
  expect(written).toEqual(["heavy", "heavy", ...Array(4).fill("light"), "heavy"]);
  await Promise.all(all);
});

test("more than 500 evaluations of a tenant are not queued, and others still are", async () => {
  const { render } = open();
  const all = await Promise.allSettled(
    Array.from({ length: 600 }, () => render("greedy", "x")).concat(render("other", "y")),
  );
  expect(all.slice(0, 500).every(({ status }) => status === "fulfilled")).toBe(true);
  expect(all.slice(500, 600)).toEqual(
    Array.from({ length: 100 }, () => ({
      status: "rejected",
      reason: expect.objectContaining({ code: "unavailable", retryAfter: 2 }),
    })),
  );
  expect(all[600]).toEqual({ status: "fulfilled", value: "y" });
});

/** Returns a lane whose child never becomes ready, so that all evaluations wait. */
const openWaiting = () =>
  open({ start: () => ({ write: () => {}, usedMs: () => undefined, kill: () => {} }) });
const tooMany = { code: "unavailable", retryAfter: 2 };

test("more than 2,000 evaluations of all tenants are not queued", async () => {
  const { lane, render } = openWaiting();
  const evaluations = Array.from({ length: 2_001 }, (_, index) => render(`${index % 5}`, "x"));
  const all = Promise.allSettled(evaluations);
  lane.close();
  const reasons = (await all).map((result) => result.status === "rejected" && result.reason);
  const stopping = { code: "unavailable", retryAfter: 1 };
  expect(reasons).toMatchObject([...Array(2_000).fill(stopping), tooMany]);
});

test("an evaluation that has waited for 10 seconds is rejected", async () => {
  vi.useFakeTimers();
  const { render } = openWaiting();
  const rejected = vi.fn();
  void render("a", "x").catch(rejected);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(rejected).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1_001);
  expect(rejected).toHaveBeenCalledWith(expect.objectContaining(tooMany));
});

test("a child without work is stopped after its idle time, and started again", async () => {
  const { processes, render } = open({ idleMs: 1 });
  expect(await render("a", "x")).toBe("x");
  await processes[0]?.exited;
  expect(await render("a", "y")).toBe("y");
  expect(processes).toHaveLength(2);
});

test("closing stops the child, and rejects what has not finished", async () => {
  const { lane, processes, render } = open();
  await render("a", "warm");
  const pending = render("a", "{% for i in (1..20000) %}{{ i }}{% endfor %}");
  lane.close();
  await expect(pending).rejects.toMatchObject({ code: "unavailable" });
  await expect(render("a", "x")).rejects.toMatchObject({ code: "unavailable" });
  await processes[0]?.exited;
});
