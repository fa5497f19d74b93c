import { existsSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder, until } from "../../../../../test/fixtures/supervisor.ts";
import { openLogFile } from "./log-file.ts";

test("a large log is truncated, one copy is kept, and an open descriptor still appends", async () => {
  const path = join(temporaryFolder(), "postgres.log");
  const file = openLogFile(path, { maxBytes: 1_000, checkMs: 10 });
  onTestFinished(() => file.close());
  writeSync(file.descriptor, "old\n".repeat(500));
  await until("the log starts anew", () => existsSync(`${path}.1`) && statSync(path).size === 0);
  writeSync(file.descriptor, "new\n");
  expect(readFileSync(path, "utf8")).toBe("new\n");
  expect(readFileSync(`${path}.1`, "utf8")).toHaveLength(2_000);
});

test("the tail is the text after a given offset", async () => {
  const file = openLogFile(join(temporaryFolder(), "postgres.log"));
  onTestFinished(() => file.close());
  writeSync(file.descriptor, "earlier\n");
  const from = file.size();
  writeSync(file.descriptor, "FATAL: later\n");
  expect(file.tail(from)).toBe("FATAL: later");
});

test("a log that was deleted can still be read, and is created again when it is reopened", () => {
  const path = join(temporaryFolder(), "postgres.log");
  const file = openLogFile(path);
  onTestFinished(() => file.close());
  rmSync(path);
  const from = file.size();
  writeSync(file.descriptor, "FATAL: deleted\n");
  expect(file.tail(from)).toBe("FATAL: deleted");
  file.reopen();
  expect(file.size()).toBe(0);
  writeSync(file.descriptor, "FATAL: new\n");
  expect(readFileSync(path, "utf8")).toBe("FATAL: new\n");
});
