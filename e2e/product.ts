import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll } from "vitest";

/** The product as a newcomer starts it: `script/server`, known only by what it prints. */
export interface Product {
  readonly pid: number;
  /** Everything it has printed. */
  output(): string;
  /** What it printed after `label`, which begins a line. */
  printed(label: string): string;
  /** The `curl` commands it printed, to be pasted. */
  curls(): string[];
  readonly url: string;
  /** The demo agent, its secrets read from the files that it printed. */
  demo(): { readonly id: string; readonly token: string; readonly triggerUrl: string };
  /** Ids of its child processes, and of theirs. */
  descendants(): number[];
  /**
   * Asks it to stop, as Ctrl-C or a service manager would. Resolves with its exit code, or the
   * signal that killed it.
   */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
  readonly exited: Promise<number | string>;
}

export const checkout = resolve(import.meta.dirname, "..");

const launched: Product[] = [];
const folders: string[] = [];

// Here and not where they are created: a hook that a running test registers is never called.
afterAll(async () => {
  await Promise.all(launched.map((product) => product.stop()));
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

/** A folder that is removed at the end of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-e2e-"));
  folders.push(folder);
  return folder;
}

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.on("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

/** Runs `command` (default: `script/server`) without waiting. It is stopped at the end of the file. */
export function launch(
  env: Record<string, string>,
  command: readonly [string, ...string[]] = [join(checkout, "script/server")],
  cwd = checkout,
): Product {
  const [file, ...args] = command;
  const child = spawn(file, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    // Without the variables of the test runner, which a newcomer does not have.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<number | string>((done) => {
    child.on("error", (error) => done(error.message));
    child.on("close", (code, signal) => done(code ?? signal ?? ""));
  });
  const pid = child.pid ?? 0;
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return exited;
  };
  const printed = (label: string): string => {
    const line = output.split("\n").find((each) => each.trimStart().startsWith(label));
    if (line === undefined) throw new Error(`${label} was not printed:\n${output}`);
    return line.trimStart().slice(label.length).trim();
  };
  const product: Product = {
    pid,
    output: () => output,
    printed,
    curls: () => [...output.matchAll(/^ +(curl .*)$/gm)].map((match) => match[1] ?? ""),
    get url() {
      const [, url] = isReady.exec(output) ?? [];
      if (url === undefined) throw new Error(`no address was printed:\n${output}`);
      return url;
    },
    demo: () => ({
      id: printed("Demo agent"),
      token: readFileSync(printed("Demo token"), "utf8").trim(),
      triggerUrl: readFileSync(printed("Demo trigger"), "utf8").trim(),
    }),
    descendants: () => descendantsOf(pid),
    stop,
    exited,
  };
  launched.push(product);
  return product;
}

/** Its line once it accepts requests, with version and address. */
const isReady = /^Beckon \d+\.\d+\.\d+\S* is ready at (\S+)$/m;

/** Starts the product and waits until it says that it is ready. */
export async function startProduct(env: Record<string, string>): Promise<Product> {
  const product = launch(env);
  await ready(product);
  return product;
}

/** Resolves when the product has printed its greeting; rejects if it exits first, or after 30 s. */
async function ready(product: Product): Promise<void> {
  let ended: number | string | undefined;
  void product.exited.then((code) => {
    ended = code;
  });
  await until("the greeting", () => {
    if (ended !== undefined) throw new Error(`Beckon exited with ${ended}:\n${product.output()}`);
    // The greeting is one write.
    return isReady.test(product.output()) && product.output().endsWith("\n");
  });
}

/** Polls until `ask` returns true; fails after `seconds`. */
export async function until(
  what: string,
  ask: () => boolean | Promise<boolean>,
  seconds = 30,
): Promise<void> {
  for (
    const deadline = performance.now() + seconds * 1_000;
    !(await ask());
    await new Promise((again) => setTimeout(again, 20))
  ) {
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
  }
}

/** Every process of this machine except zombies. */
function processes(): {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], {
    encoding: "utf8",
  }).split("\n");
  return lines.flatMap((line) => {
    const [, pid, parent, state, command = ""] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined || state?.startsWith("Z")
      ? []
      : [{ pid: Number(pid), parent: Number(parent), command }];
  });
}

function descendantsOf(pid: number): number[] {
  const all = processes();
  const below = (parent: number): number[] =>
    all.filter((each) => each.parent === parent).flatMap((each) => [each.pid, ...below(each.pid)]);
  return below(pid);
}

/** Command lines of running processes: those of `pids`, and those with `text` in the command line. */
export function stillRunning(pids: readonly number[], text: string): string[] {
  return processes()
    .filter(({ pid, command }) => pids.includes(pid) || command.includes(text))
    .map(({ pid, command }) => `${pid} ${command}`);
}
