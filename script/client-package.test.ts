import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { packClient } from "./client-package.ts";

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "beckon-client-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  return { status, output: stdout + stderr };
};

test("the installed package works in JavaScript, and in TypeScript with browser types", {
  timeout: 60_000,
}, () => {
  const modules = join(folder, "node_modules");
  packClient(join(modules, "@beckon/client"));
  const parser = createRequire(join(root, "client/package.json")).resolve(
    "eventsource-parser/package.json",
  );
  symlinkSync(dirname(parser), join(modules, "eventsource-parser"));
  mkdirSync(join(folder, "src"));

  writeFileSync(
    join(folder, "src/plain.mjs"),
    'import { BeckonError, createClient } from "@beckon/client";\n' +
      'const beckon = createClient({ url: "http://127.0.0.1:9", retries: 0 });\n' +
      'await beckon.runs.get("run_1").catch((error) => console.log(error instanceof BeckonError, error.code));\n',
  );
  expect(run(process.execPath, "src/plain.mjs")).toEqual({ status: 0, output: "true no_answer\n" });

  writeFileSync(
    join(folder, "src/typed.ts"),
    'import { type Agent, createClient } from "@beckon/client";\n' +
      'const beckon = createClient({ url: "https://beckon.example.com" });\n' +
      'export const agent: Promise<Agent> = beckon.agents.get("agt_1");\n' +
      "// @ts-expect-error an agent needs a model\n" +
      'export const wrong = beckon.agents.create({ name: "Triage" });\n',
  );
  const options = {
    strict: true,
    noEmit: true,
    module: "esnext",
    moduleResolution: "bundler",
    target: "es2022",
    lib: ["es2022", "dom"],
    types: [],
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: { ...options, exactOptionalPropertyTypes: true },
      include: ["src"],
    }),
  );
  expect(run(join(root, "node_modules/.bin/tsc"), "-p", folder)).toEqual({ status: 0, output: "" });
});
