import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { automaticProcesses } from "./machine.ts";

const gib = 1024 ** 3;

test("there is one server process per CPU, at most 64", () => {
  expect(automaticProcesses(1, 8 * gib)).toBe(1);
  expect(automaticProcesses(6, 64 * gib)).toBe(6);
  expect(automaticProcesses(200, 1_024 * gib)).toBe(64);
});

test("there are no more server processes than half of the memory has heaps of 256 MiB for", () => {
  expect(automaticProcesses(16, 2 * gib)).toBe(4);
  expect(automaticProcesses(16, 0.25 * gib)).toBe(1);
});

test.skipIf(process.platform !== "linux")("CPUs that this process cannot use do not count", () => {
  const print =
    "import('./server/src/base/machine/machine.ts').then((it) => console.log(it.automaticProcesses()))";
  const args = ["-c", "0", process.execPath, "-e", print];
  expect(execFileSync("taskset", args, { encoding: "utf8" }).trim()).toBe("1");
});
