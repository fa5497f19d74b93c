import { expect, test } from "vitest";
import { Interrupted, unlessStopped } from "./terminal.ts";

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
