import { expect, test } from "vitest";
import { Interrupted, toJson, unlessStopped } from "./terminal.ts";

test("JSON has no control characters that a terminal interprets, and keeps its value", () => {
  const value = { output: "\u001b[31m \u007f\u009b31m \u009f é" };
  expect(toJson(value)).toBe('{"output":"\\u001b[31m \\u007f\\u009b31m \\u009f é"}');
  expect(JSON.parse(toJson(value))).toEqual(value);
});

const endless = new Promise<never>(() => {});

test("work is left when the signal aborts, and at once if it has aborted already", async () => {
  const controller = new AbortController();
  const left = unlessStopped(endless, controller.signal);
  controller.abort(new Interrupted());
  await expect(left).rejects.toBeInstanceOf(Interrupted);
  await expect(unlessStopped(endless, controller.signal)).rejects.toBeInstanceOf(Interrupted);
  await expect(unlessStopped(Promise.resolve(1), controller.signal)).rejects.toBeInstanceOf(
    Interrupted,
  );
});

test("the result of the work is returned if the signal does not abort", async () => {
  const { signal } = new AbortController();
  expect(await unlessStopped(Promise.resolve(1), signal)).toBe(1);
  await expect(unlessStopped(Promise.reject(new Error("failed")), signal)).rejects.toThrow(
    "failed",
  );
});
