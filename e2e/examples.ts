import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { packClient } from "../script/client-package.ts";
import { checkout, temporaryFolder } from "./product.ts";

/** A fenced code block of a Markdown page. */
export interface Fence {
  readonly kind: string;
  readonly text: string;
  readonly line: number;
}

export function fencesOf(page: string): Fence[] {
  const text = readFileSync(join(checkout, page), "utf8");
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    kind: match[1] ?? "",
    text: match[2] ?? "",
    line: text.slice(0, match.index).split("\n").length,
  }));
}

/**
 * Type-checks and runs TypeScript that imports the client, in its own project.
 * @returns What it printed to stdout.
 */
export async function runTypeScript(
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = temporaryFolder();
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "src/example.ts"), text);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(checkout, "tsconfig.json"), include: ["src"] }),
  );
  const where = { folder, env };
  await run(where, join(checkout, "node_modules/.bin/tsc"), "-p", folder);
  return await run(where, process.execPath, "src/example.ts");
}

/**
 * Runs JavaScript with the client as it is published. Unlike the sources, the published client also
 * runs on older versions of Node.js.
 * @param node The path of Node.js.
 * @returns What it printed to stdout.
 */
export async function runJavaScript(
  text: string,
  env: Readonly<Record<string, string>>,
  node: string,
): Promise<string> {
  const folder = temporaryFolder();
  const modules = join(folder, "node_modules");
  packClient(join(modules, "@beckon/client"));
  const parser = createRequire(join(checkout, "client/package.json")).resolve(
    "eventsource-parser/package.json",
  );
  symlinkSync(dirname(parser), join(modules, "eventsource-parser"));
  writeFileSync(join(folder, "example.mjs"), text);
  return await run({ folder, env }, node, "example.mjs");
}

/**
 * Returns the path of the Node.js that runs this test, then a path for each other version in PATH
 * that is 20 or newer. The client requires 22.12; a run on an older version shows that it uses
 * nothing newer.
 */
export function installedNodes(): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = new Map([[process.version, process.execPath]]);
  for (const path of folders.map((folder) => join(folder, "node"))) {
    const version = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout?.trim() ?? "";
    const major = Number(/^v(\d+)/.exec(version)?.[1] ?? 0);
    if (major >= 20 && !found.has(version)) found.set(version, path);
  }
  return [...found.values()];
}

/**
 * Runs a command and returns its stdout. Asynchronous, because the server that the command calls
 * can run in this process.
 */
async function run(
  { folder, env }: { folder: string; env: Readonly<Record<string, string>> },
  command: string,
  ...args: string[]
): Promise<string> {
  const options = { cwd: folder, timeout: 60_000, env: { ...env, PATH: process.env.PATH } };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (thrown) {
    const { stdout = "", stderr = "" } = thrown as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: thrown });
  }
}

/** Returns a pattern for the output that a page shows, in which `…` matches anything. */
export function asPrinted(shown: string): RegExp {
  const pieces = shown.split("…").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[\\s\\S]*")}$`);
}
