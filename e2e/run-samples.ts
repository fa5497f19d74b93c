import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A sample of the documentation, with the environment variables that it reads. */
export interface Job {
  readonly id: string;
  readonly code: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What a sample printed, value by value, or why it failed. */
export interface Printed {
  readonly id: string;
  readonly values: readonly unknown[];
  readonly error: string | undefined;
}

export type Runner = (jobs: readonly Job[]) => Promise<Printed[]>;

const checkout = join(import.meta.dirname, "..");
const timeout = 60_000;

/** Runs each sample in a shell of its own. `values` has one item: the sample's standard output. */
export const runCurl: Runner = async (jobs) => {
  const printed: Printed[] = [];
  for (const { id, code, env } of jobs) {
    const result = await promisify(execFile)("sh", ["-c", code], {
      env: { PATH: process.env.PATH, ...env },
      timeout,
    }).then(
      ({ stdout }) => ({ values: [stdout], error: undefined }),
      ({ stdout, stderr }: { stdout: string; stderr: string }) => ({
        values: [],
        error: stdout + stderr || "failed",
      }),
    );
    printed.push({ id, ...result });
  }
  return printed;
};

const nodeRunner = `
const { jobs } = await import("./jobs.json", { with: { type: "json" } }).then((m) => m.default);
const log = console.log;
for (const { id, env } of jobs) {
  Object.assign(process.env, env);
  const values = [];
  console.log = (value) => values.push(value);
  const error = await import("./" + id + ".ts").then(() => undefined, (thrown) => String(thrown));
  log(JSON.stringify({ id, values, error }));
}
`;

/** Compiles all samples, then runs them as modules in one process. */
export const runTypeScript: Runner = async (jobs) => {
  const folder = mkdtempSync(join(tmpdir(), "beckon-samples-"));
  try {
    symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const tsconfig = { extends: join(checkout, "tsconfig.json"), include: ["*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
    for (const { id, code } of jobs)
      writeFileSync(join(folder, `${id}.ts`), `${code}\nexport {};\n`);
    writeFileSync(join(folder, "jobs.json"), JSON.stringify({ jobs }));
    await output(join(checkout, "node_modules/.bin/tsc"), ["-p", folder]);
    writeFileSync(join(folder, "run.mjs"), nodeRunner);
    return lines(await output(process.execPath, [join(folder, "run.mjs")]));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const pythonRunner = `
import json, os, sys
for job in json.load(sys.stdin):
    os.environ.update(job["env"])
    values = []
    error = None
    try:
        exec(compile(job["code"], job["id"], "exec"), {"print": values.append})
    except (Exception, SystemExit) as thrown:
        error = repr(thrown)
    print(json.dumps({"id": job["id"], "values": values, "error": error}))
`;

/** Runs all samples in one process. */
export const runPython: Runner = async (jobs) =>
  lines(await output("python3", ["-c", pythonRunner], JSON.stringify(jobs)));

const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Printed)
    .map((printed) => ({ ...printed, error: printed.error ?? undefined }));

/** Returns the standard output. @throws Error with all output if the exit status is not 0 */
async function output(command: string, args: readonly string[], input = ""): Promise<string> {
  const child = spawn(command, args, { cwd: checkout, timeout });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.end(input);
  const status = await new Promise((resolve, reject) => {
    child.once("close", resolve).once("error", reject);
  });
  if (status !== 0) throw new Error(`${command} failed with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
