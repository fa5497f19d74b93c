import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder, until } from "../../../../../test/fixtures/supervisor.ts";
import { openLogFile, rotate } from "./log-file.ts";

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

test("a log that cannot be copied is truncated only when it is four times as large as allowed", async () => {
  const path = join(temporaryFolder(), "postgres.log");
  mkdirSync(`${path}.1`);
  writeFileSync(path, "x".repeat(4_000));
  await rotate(path, 1_000);
  expect(statSync(path).size).toBe(4_000);
  appendFileSync(path, "x");
  await rotate(path, 1_000);
  expect(statSync(path).size).toBe(0);
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
