import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkout, temporaryFolder } from "./product.ts";

/** A block of code in a page. */
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
 * Runs TypeScript that imports the client, in a project of its own, and holds it against the compiler, as its reader would.
 * @returns what it printed.
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
    // The server may live in this process, so nothing here may wait without letting it work.
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

/** What a text must be like to be as a page shows it, where `…` stands for anything. */
export function asPrinted(shown: string): RegExp {
  const pieces = shown.split("…").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[\\s\\S]*")}$`);
}
