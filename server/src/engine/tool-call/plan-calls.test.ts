import { expect, test } from "vitest";
import { tool } from "../../../test/engine-run.ts";
import { elapsed } from "../../base/clock.ts";
import type { Step } from "../history.ts";
import { planCalls, resultsOfRelease } from "./plan-calls.ts";

/** Returns a step with one call of the tool `a` for each of these arguments. */
function stepOf(allArguments: readonly string[]): Step {
  return {
    step: 1,
    model: "scripted/model",
    parts: allArguments.map((text, n) => ({
      type: "tool_call" as const,
      call_id: `call_${n}`,
      tool: "a",
      arguments: text,
    })),
    finish_reason: "tool_calls",
    usage: { input_tokens: 1, output_tokens: 1, cached_input_tokens: 0 },
    cost_micros: 0,
    duration_ms: 1,
    retries: 0,
  };
}

test("calls above the maximum of a step are rejected without the names of all tools", async () => {
  const tools = Array.from({ length: 128 }, (_, n) => tool(`tool_${n}_`.padEnd(64, "x")));
  const step = stepOf(Array.from({ length: 10_000 }, () => ""));
  const { entries, calls } = await planCalls("run_1", step, tools, []);
  expect([entries.length, calls.length]).toEqual([10_000, 0]);
  // If the errors listed the names of the tools, each of the 10,000 results would have more than
  // 8,000 characters.
  expect(JSON.stringify(entries).length).toBeLessThan(5_000_000);
});

test("arguments above 1 MiB are rejected and not checked", async () => {
  const checked: unknown[] = [];
  const check = (args: unknown) => void checked.push(args);
  const texts = [1_048_576, 1_048_577].map((length) => `"${"x".repeat(length - 2)}"`);
  const { entries, calls } = await planCalls("run_1", stepOf(texts), [tool("a", { check })], []);
  expect([calls.map(({ callId }) => callId), checked.length]).toEqual([["call_0"], 1]);
  expect(entries[1]?.data).toMatchObject({
    call_id: "call_1",
    outcome: "refused",
    result: expect.stringMatching(
      /^The arguments of a are longer than 1,048,576 characters; send less\. Available tools: a\.$/,
    ),
  });
});

test("the reason why arguments are rejected is short, however long their names are", async () => {
  const check = (args: unknown) => `${Object.keys(args as object)} is unknown`;
  const name = "x".repeat(5_000);
  const texts = [{ [name]: "" }, { [name]: "\0" }].map((args) => JSON.stringify(args));
  const { entries } = await planCalls("run_1", stepOf(texts), [tool("a", { check })], []);
  const shown = `${"x".repeat(3_999)}…`;
  expect(entries.map(({ data }) => data)).toMatchObject(
    [shown, `${shown} contains NUL or a lone surrogate; remove it`].map((reason) => ({
      outcome: "refused",
      result: `The arguments of a are invalid: ${reason}. Available tools: a.`,
    })),
  );
});

test("a call that was certainly not made does not count towards the budget of its tool", async () => {
  const limited = tool("a", { budget: { name: "a", calls: 1 }, safeToRepeat: false });
  const earlier = await planCalls("run_1", stepOf(["{}"]), [limited], []);
  const released = resultsOfRelease([limited], earlier.entries, new Set(["call_0"]));
  const journaled = [...earlier.entries, ...released];
  const { calls } = await planCalls("run_1", stepOf(["{}", "{}"]), [limited], journaled);
  expect(calls.map(({ callId }) => callId)).toEqual(["call_1"]);
});

test("other work of the process continues between long checks, also of several runs", async () => {
  const order: string[] = [];
  const tools = [
    tool("a", {
      check(args) {
        order.push("check");
        for (const end = elapsed() + Number(args); elapsed() < end; );
        return undefined;
      },
    }),
  ];
  const timer = setInterval(() => order.push("other work"), 1);
  const plan = (run: string) => planCalls(run, stepOf(["30", "30"]), tools, []);
  await Promise.all(["run_1", "run_2", "run_3"].map(plan));
  clearInterval(timer);
  // Between the poll phase, where the first check can be, and the check phase are no timers.
  expect(order.join()).not.toContain("check,check,check");
  expect(order.filter((each) => each === "check")).toHaveLength(6);
});

test("the runs of a workspace do not delay the checks of others", async () => {
  const order: unknown[] = [];
  const check = (args: unknown) => void order.push(args);
  const plan = (owner: string, ...args: string[]) =>
    planCalls("run_1", stepOf(args), [tool("a", { check })], [], owner);
  await Promise.all([plan("x", "1", "2"), plan("x", "3", "4"), plan("x", "5"), plan("y", "6")]);
  expect(order.indexOf(6)).toBeLessThan(3);
});
