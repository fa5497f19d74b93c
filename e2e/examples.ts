import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
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
  const run = async (command: string, ...args: string[]) => {
    // Asynchronous, because the server can run in this process.
    const options = { cwd: folder, timeout: 60_000, env: { ...env, PATH: process.env.PATH } };
    try {
      return (await promisify(execFile)(command, args, options)).stdout;
    } catch (thrown) {
      const { stdout = "", stderr = "" } = thrown as { stdout?: string; stderr?: string };
      throw new Error(`${command} failed:\n${stdout}${stderr}\nof:\n${text}`, { cause: thrown });
    }
  };
  await run(join(checkout, "node_modules/.bin/tsc"), "-p", folder);
  return await run(process.execPath, "src/example.ts");
}

/** Returns a pattern for the output that a page shows, in which `…` matches anything. */
export function asPrinted(shown: string): RegExp {
  const pieces = shown.split("…").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[\\s\\S]*")}$`);
}
