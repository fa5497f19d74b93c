import { type ChildProcess, spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../../test/fixtures/supervisor.ts";
import { lockDataFolder } from "./lock-data-folder.ts";

/**
 * Starts a process that tries to take the lock, prints the result and keeps running. `message`
 * resolves with the printed text.
 */
function contender(folder: string): { child: ChildProcess; message: Promise<string> } {
  const script = `
    import { lockDataFolder } from ${JSON.stringify(new URL("./lock-data-folder.ts", import.meta.url).href)};
    try { lockDataFolder(${JSON.stringify(folder)}); console.log("locked"); } catch (thrown) { console.log(thrown.message); }
    globalThis.gc(); // The lock must survive garbage collection.
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ["--expose-gc", "--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const message = new Promise<string>((resolve) =>
    child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim())),
  );
  return { child, message };
}

test("of several processes one gets the lock, and after its kill -9 another", async () => {
  const folder = temporaryFolder();
  for (let round = 1; round <= 3; round++) {
    const contenders = Array.from({ length: 6 }, () => contender(folder));
    const messages = await Promise.all(contenders.map((one) => one.message));
    expect(messages.filter((text) => text === "locked")).toHaveLength(1);
    expect(messages.filter((text) => text.startsWith("Another Beckon"))).toHaveLength(5);
    await Promise.all(
      contenders.map(
        ({ child }) => new Promise((ended) => child.on("exit", ended).kill("SIGKILL")),
      ),
    );
  }
});

test("a released folder can be locked again, and releasing twice is harmless", () => {
  const folder = temporaryFolder();
  const first = lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow("Another Beckon");
  first.release();
  const second = lockDataFolder(folder);
  first.release();
  expect(() => lockDataFolder(folder)).toThrow("Another Beckon");
  second.release();
});

test.skipIf(process.platform !== "linux")("a folder on a full disk can be locked", () => {
  const folder = temporaryFolder();
  // Every write to this device fails with ENOSPC.
  symlinkSync("/dev/full", join(folder, "lock.pid"));
  lockDataFolder(folder).release();
});
