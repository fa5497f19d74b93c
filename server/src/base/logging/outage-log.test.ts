import { beforeEach, expect, test } from "vitest";
import { OutageLog } from "./outage-log.ts";

let now = 0;
let written: unknown[] = [];
const create = () =>
  new OutageLog<string>(
    {
      failed: (reason, count) => written.push([reason, count]),
      worksAgain: (reason, count, durationMs) => written.push(["again", reason, count, durationMs]),
      quietMs: 2_000,
    },
    () => now,
  );
beforeEach(() => {
  now = 0;
  written = [];
});

test("an outage writes one line when it begins, one a minute with a count, and one at its end", () => {
  const log = create();
  for (now = 0; now <= 90_000; now += 100) log.failed("db", `at ${now}`);
  now = 100_000;
  log.succeeded("db");
  log.succeeded("db");
  expect(written).toEqual([
    ["at 0", 1],
    ["at 60000", 600],
    ["again", "at 90000", 901, 90_000],
  ]);
});

test("a success soon after a failure does not end the outage, so a partial outage writes few lines", () => {
  const log = create();
  for (now = 0; now < 30_000; now += 500) {
    log.failed("db", "x");
    log.succeeded("db");
  }
  expect(written).toEqual([["x", 1]]);
});

test("a failure after the end of an outage is a new outage, and keys are apart", () => {
  const log = create();
  log.failed("a", "first");
  log.failed("b", "other");
  now = 5_000;
  log.succeeded("a");
  log.failed("a", "second");
  log.succeeded("c");
  expect(written).toEqual([
    ["first", 1],
    ["other", 1],
    ["again", "first", 1, 0],
    ["second", 1],
  ]);
});

test("with more than 1,000 outages the oldest one is forgotten", () => {
  const log = create();
  for (let key = 0; key <= 1_000; key++) log.failed(String(key), "x");
  written = [];
  log.failed("1000", "y");
  log.failed("0", "z");
  expect(written).toEqual([["z", 1]]);
});
