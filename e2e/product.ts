import { execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Beckon started with `script/server`. Tests get ids, addresses and files only from its output. */
export interface Product {
  readonly pid: number;
  /** Everything printed so far, stdout and stderr. */
  output(): string;
  /** Returns the rest of the first printed line that starts with `label`. */
  printed(label: string): string;
  /** The printed `curl` commands. */
  curls(): string[];
  readonly url: string;
  /** The demo agent. Its secrets are read from the files whose paths Beckon printed. */
  demo(): { readonly id: string; readonly token: string; readonly triggerUrl: string };
  /** Process ids of its child processes and their descendants. */
  descendants(): number[];
  /** Sends a signal, by default SIGTERM. Resolves with the exit code or the terminating signal. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
  readonly exited: Promise<number | string>;
}

export const checkout = resolve(import.meta.dirname, "..");

const launched: Product[] = [];
const folders: string[] = [];

/** Stops what the tests of a file started, and removes its folders. */
export async function stopProducts(): Promise<void> {
  await Promise.all(launched.splice(0).map((product) => product.stop()));
  for (const folder of folders.splice(0))
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Creates a folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-e2e-"));
  folders.push(folder);
  return folder;
}

/**
 * Returns a free TCP port below those that operating systems assign to connections. Such a port
 * stays free until a product listens on it, and while a product is restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000);
    if (await canListen(port)) return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Starts `command`, by default `script/server`. It is stopped after the tests of the file. */
export function launch(
  env: Record<string, string>,
  command: readonly [string, ...string[]] = [join(checkout, "script/server")],
  cwd = checkout,
): Product {
  const [file, ...args] = command;
  const child = spawn(file, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    // The other environment variables of the test runner are not passed on, because they could be
    // settings of Beckon.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      // A start then takes half as much CPU.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      BECKON_DISCOVER: "0",
      ...env,
    },
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

/** The line with version and address that Beckon prints when it accepts requests. */
const isReady = /^Beckon \d+\.\d+\.\d+\S* is ready at (\S+)$/m;

/** Starts the product like `launch`, and waits until it prints that it is ready. */
export async function startProduct(...arguments_: Parameters<typeof launch>): Promise<Product> {
  const product = launch(...arguments_);
  // A first start initialises a database, which takes seconds of CPU.
  await ready(product, 90);
  return product;
}

/**
 * Resolves when the product is ready; rejects if it exits before or is not ready in `seconds`.
 */
export async function ready(product: Product, seconds: number): Promise<void> {
  let exitCode: number | string | undefined;
  void product.exited.then((code) => {
    exitCode = code;
  });
  await until(
    "the startup message",
    () => {
      if (exitCode !== undefined)
        throw new Error(`Beckon exited with ${exitCode}:\n${product.output()}`);
      // Beckon writes the whole startup message with one `write`, and other lines follow its first
      // line. The message is complete when the output ends with a newline.
      return isReady.test(product.output()) && product.output().endsWith("\n");
    },
    seconds,
  );
}

/** Polls until `condition` is true. Throws after `seconds`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  seconds = 60,
): Promise<void> {
  for (
    const deadline = performance.now() + seconds * 1_000;
    !(await condition());
    await new Promise((again) => setTimeout(again, 20))
  ) {
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
  }
}

/** Lists the processes of this machine, without zombies. */
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

/**
 * Returns id and command line of running processes in `pids` or with `text` in the command line.
 */
export function stillRunning(pids: readonly number[], text: string): string[] {
  return processes()
    .filter(({ pid, command }) => pids.includes(pid) || command.includes(text))
    .map(({ pid, command }) => `${pid} ${command}`);
}
