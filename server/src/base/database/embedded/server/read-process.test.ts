import { expect, test } from "vitest";
import { readFromPs, readProcess } from "./read-process.ts";

test("/proc and ps return the same command line and start time", async () => {
  const [seen, throughPs] = await Promise.all([readProcess(process.pid), readFromPs(process.pid)]);
  expect(throughPs?.command).toBe(seen?.command);
  expect(Math.abs((throughPs?.startedAt ?? 0) - (seen?.startedAt ?? 0))).toBeLessThan(2);
  expect(Math.abs((seen?.startedAt ?? 0) - (Date.now() / 1_000 - process.uptime()))).toBeLessThan(
    3,
  );
});

test("an unused pid returns undefined", async () => {
  expect(await readProcess(2 ** 30)).toBeUndefined();
  expect(await readFromPs(2 ** 30)).toBeUndefined();
});
