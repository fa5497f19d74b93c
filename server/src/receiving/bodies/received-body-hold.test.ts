import { expect, test } from "vitest";
import { ByteBudget } from "../../base/byte-budget.ts";
import { ReceivedBodyHold } from "./received-body-hold.ts";

const mebibyte = 1_048_576;
const budgets = (exchanges: number, bodies: number) => ({
  exchanges: new ByteBudget({ maxBytes: exchanges, shareMax: 1 }),
  bodies: new ByteBudget({ maxBytes: bodies, shareMax: 1 }),
});

test("a body counts six times in memory and once as a body, until it is released", () => {
  const memory = budgets(100 * mebibyte, 100 * mebibyte);
  const hold = new ReceivedBodyHold(memory, "trigger");
  expect(hold.grow(6 * mebibyte)).toBe(true);
  expect(hold.growBytes(2 * mebibyte)).toBe(true);
  expect([memory.exchanges.usedBytes, memory.bodies.usedBytes]).toEqual([
    18 * mebibyte,
    3 * mebibyte,
  ]);
  hold.release();
  expect([memory.exchanges.usedBytes, memory.bodies.usedBytes]).toEqual([0, 0]);
});

test("if one of the budgets has not enough left, nothing is counted", () => {
  for (const memory of [
    budgets(5 * mebibyte, 100 * mebibyte),
    budgets(100 * mebibyte, mebibyte - 1),
  ]) {
    const hold = new ReceivedBodyHold(memory, "trigger");
    expect(hold.grow(6 * mebibyte)).toBe(false);
    expect([memory.exchanges.usedBytes, memory.bodies.usedBytes]).toEqual([0, 0]);
    hold.release();
  }
});

test("an inflated body that never fits is too large, one that does not fit now is not", () => {
  const memory = budgets(12 * mebibyte, 100 * mebibyte);
  const [hold, other] = ["a", "b"].map((owner) => new ReceivedBodyHold(memory, owner));
  expect(hold?.grow(6 * mebibyte)).toBe(true);
  expect(() => hold?.growBytes(mebibyte + 1)).toThrow("larger than the memory");
  expect(other?.growBytes(2 * mebibyte)).toBe(false);
  hold?.release();
  expect(other?.growBytes(2 * mebibyte)).toBe(true);
  other?.release();
});

test("the maximum is that of the smaller budget", () => {
  const hold = new ReceivedBodyHold(budgets(100 * mebibyte, 10 * mebibyte), "trigger");
  expect(hold.maxBytes).toBe(60 * mebibyte);
  hold.release();
});
