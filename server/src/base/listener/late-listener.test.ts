import { expect, test } from "vitest";
import { LateListener } from "./index.ts";

test("calls before a listener is registered do nothing, and later calls reach it", () => {
  const { call, register } = new LateListener<[string]>();
  const received: string[] = [];
  call("early");
  register((value) => received.push(value));
  call("late");
  expect(received).toEqual(["late"]);
});

test("a second listener is rejected, and the first one is still called", () => {
  const { call, register } = new LateListener();
  const received: string[] = [];
  register(() => received.push("first"));
  expect(() => register(() => received.push("second"))).toThrow("already registered");
  call();
  expect(received).toEqual(["first"]);
});
