import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenLinks } from "../e2e/broken-links.ts";
import { packClient, writeTarball } from "./client-package.ts";

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "beckon-client-"));
const modules = join(folder, "node_modules");
const packed = join(modules, "@beckon/client");
beforeAll(() => {
  const built = join(folder, "built");
  packClient(built);
  const tarball = writeTarball(built, join(folder, "dist"));
  // npm extracts a tarball in the same way.
  mkdirSync(packed, { recursive: true });
  run("tar", "-xzf", tarball, "-C", packed, "--strip-components=1");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const parser = createRequire(join(root, "client/package.json")).resolve(
  "eventsource-parser/package.json",
);

const run = (command: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  return { status, output: stdout + stderr };
};

test("the installed package works in JavaScript, and in TypeScript with browser types", () => {
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
  writeFileSync(
    join(folder, "src/events.ts"),
    'import { type JournalEvent, type Run, type StartedRun, createClient } from "@beckon/client";\n' +
      'const beckon = createClient({ url: "https://beckon.example.com" });\n' +
      "export function about(event: JournalEvent): string | undefined {\n" +
      '  if (event.type === "run.failed") return event.data.error.message;\n' +
      '  if (event.type === "run.tool_call") return event.data.tool;\n' +
      '  if (event.type === "run.finished") return event.data.output ?? event.data.artifact_id;\n' +
      "  // @ts-expect-error no event has this type\n" +
      '  return event.type === "run.faild" ? "" : undefined;\n' +
      "}\n" +
      "export async function read() {\n" +
      '  for await (const event of beckon.runs.listEvents("run_1")) about(event);\n' +
      '  about(await beckon.runs.getEvent("run_1", 1));\n' +
      "  for await (const event of beckon.events.watch()) {\n" +
      '    if (event.type === "run.resumed") return event.data.attempt.toFixed();\n' +
      '    if (event.type === "agent.paused") return event.data.actor;\n' +
      '    if (event.type === "stream.reset") return event.data.message;\n' +
      '    if (!("seq" in event)) continue;\n' +
      '    if (event.run_id !== null && event.type !== "run.failed") about(event);\n' +
      "  }\n" +
      '  for await (const event of beckon.runs.watch("run_1")) if ("seq" in event) about(event);\n' +
      "}\n" +
      'export const known: Extract<Run["status"] & StartedRun["status"], "failed"> = "failed";\n' +
      'export const later: Run["status"] = "suspended";\n' +
      'export const source: Extract<Run["source"], "trigger"> = "trigger";\n',
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

test("the README of the package links to no file that the package lacks", () => {
  expect(brokenLinks(packed)).toEqual([]);
});

test("the package requires the Node.js that its dependency requires, and the documents name it", () => {
  const enginesOf = (file: string) => JSON.parse(readFileSync(file, "utf8")).engines;
  expect(enginesOf(join(packed, "package.json"))).toEqual(enginesOf(parser));
  const minimum = enginesOf(parser).node.replace(">=", "");
  for (const page of ["client/README.md", "docs/calling.md"])
    expect(readFileSync(join(root, page), "utf8")).toContain(`Node.js ${minimum} and newer`);
});
