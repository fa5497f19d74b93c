import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { childArguments } from "./child-process.ts";
import { smallLimits } from "./mapping.ts";

/** Executes a script with the flags of an evaluation child, and returns what it prints. */
async function confined(script: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "beckon-child-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "script.cjs");
  writeFileSync(file, script);
  const { flags } = childArguments(smallLimits);
  const child = spawn(process.execPath, [...flags, `--allow-fs-read=${file}`, file], {
    env: {},
    cwd: "/",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(child, "close");
  return JSON.parse(Buffer.concat(chunks).toString());
}

test("a child can read no file, start no process or thread, and evaluate no text as code", async () => {
  const result = await confined(`
    const attempts = {
      passwd: () => require("node:fs").readFileSync("/etc/passwd"),
      server: () => require("node:fs").readFileSync(${JSON.stringify(join(import.meta.dirname, "../main.ts"))}),
      write: () => require("node:fs").writeFileSync("/tmp/beckon-child", "x"),
      process: () => require("node:child_process").spawnSync("true").error?.code ?? "started",
      thread: () => new (require("node:worker_threads").Worker)("0", { eval: true }),
      code: () => new Function("return 1")(),
    };
    const found = {};
    for (const [name, attempt] of Object.entries(attempts)) {
      try { attempt(); found[name] = "allowed"; } catch (error) { found[name] = error.code ?? error.name; }
    }
    found.environment = Object.keys(process.env);
    found.proto = "__proto__" in {};
    console.log(JSON.stringify(found));
  `);
  expect(result).toEqual({
    passwd: "ERR_ACCESS_DENIED",
    server: "ERR_ACCESS_DENIED",
    write: "ERR_ACCESS_DENIED",
    process: "ERR_ACCESS_DENIED",
    thread: "ERR_ACCESS_DENIED",
    code: "EvalError",
    environment: [],
    proto: false,
  });
});
