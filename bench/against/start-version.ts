import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, openApi } from "../api.ts";
import { noRunsLeft, type Target } from "../measure.ts";
import { cpuSeconds, family, residentMiB } from "../processes.ts";
import { listenerOf } from "./listener-of.ts";

/** A running version of Beckon: started with its own `script/server`, on its own PostgreSQL. */
export interface Version extends Target {
  readonly api: Api;
  readonly key: string;
  /** Reads the URL of the version's PostgreSQL. */
  databaseUrl(): Promise<string>;
  /**
   * Stops all processes of the version with SIGSTOP, so that they use no CPU while another version
   * is measured.
   */
  freeze(): void;
  thaw(): void;
  /** Terminates all processes of the version and removes its data. */
  stop(): Promise<void>;
}

const maxStartMs = 60_000;
const maxStopMs = 30_000;

/**
 * Starts the version in `root` on a new data folder in `folder`.
 * @throws if it does not listen within a minute; the message contains its output.
 */
export async function startVersion(
  opened: AsyncDisposableStack,
  {
    root,
    folder,
    egressAllow,
    settings = {},
  }: {
    root: string;
    folder: string;
    egressAllow: string;
    /** More environment variables. Default: none. */
    settings?: Readonly<Record<string, string>>;
  },
): Promise<Version> {
  const port = await freePort();
  const key = "bench-key-of-at-least-thirty-two-characters";
  const env = {
    ...ownEnvironment(),
    BECKON_DATA_DIR: join(folder, "data"),
    BECKON_BOOTSTRAP_KEY: key,
    BECKON_EGRESS_ALLOW: egressAllow,
    BECKON_DRAIN_SECONDS: "0",
    HOST: "127.0.0.1",
    PORT: String(port),
    LOG_LEVEL: "warn",
    ...settings,
  };
  const supervisor = await spawnServer(opened, root, { folder, env });
  let server: number | undefined;
  for (const deadline = performance.now() + maxStartMs; server === undefined; await sleep(20)) {
    if (hasEnded(supervisor.child) || performance.now() > deadline) {
      throw new Error(
        `${root}/script/server does not listen. It printed:\n${readFileSync(supervisor.output, "utf8")}`,
      );
    }
    server = listenerOf(port, family(supervisor.pid));
  }
  const pid = server;
  const api = openApi(port, key);
  return {
    port,
    key,
    api,
    databaseUrl: () => urlOfDatabase(env.BECKON_DATA_DIR),
    cpu: () => {
      const used = {
        supervisor: cpuSeconds(supervisor.pid, { tree: false }),
        // Includes the server's child processes, which evaluate filters and templates.
        server: cpuSeconds(pid, { tree: true }),
      };
      // The supervisor starts one server and PostgreSQL, so what remains is PostgreSQL's CPU.
      return {
        server: used.server,
        database: cpuSeconds(supervisor.pid, { tree: true }) - used.supervisor - used.server,
      };
    },
    memoryMiB: () => residentMiB(pid),
    idle: () => noRunsLeft(api),
    freeze: () => signalTree(supervisor.pid, "SIGSTOP"),
    thaw: () => signalTree(supervisor.pid, "SIGCONT"),
    stop: supervisor.stop,
  };
}

/**
 * Returns the URL of the PostgreSQL in a data folder. PostgreSQL writes the port and the folder of
 * its socket into lines 4 and 5 of `postmaster.pid`
 * (https://www.postgresql.org/docs/current/storage-file-layout.html).
 */
async function urlOfDatabase(dataFolder: string): Promise<string> {
  const file = await readFile(join(dataFolder, "postgres/postmaster.pid"), "utf8");
  const [, , , port, socketFolder = ""] = file.split("\n");
  return `postgresql://beckon@localhost:${port}/beckon?host=${encodeURIComponent(socketFolder)}`;
}

/**
 * Returns HOME, PATH and TMPDIR for the processes of a version, so that they get no settings of
 * Beckon. PATH is without the folder of the Node.js that runs this script, so that each version
 * chooses its own Node.js.
 */
function ownEnvironment(): Record<string, string> {
  const { PATH = "", HOME = "", TMPDIR } = process.env;
  const folders = PATH.split(":");
  const ours = folders.indexOf(dirname(process.execPath));
  return {
    HOME,
    PATH: folders.filter((_, index) => index !== ours).join(":"),
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
  };
}

interface Supervisor {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Path of the file that gets the supervisor's standard output and standard error. */
  readonly output: string;
  readonly stop: () => Promise<void>;
}

async function spawnServer(
  opened: AsyncDisposableStack,
  root: string,
  { folder, env }: { folder: string; env: Record<string, string> },
): Promise<Supervisor> {
  mkdirSync(folder);
  const output = join(folder, "output.log");
  let stopped: Promise<void> | undefined;
  let stop = async () => {};
  opened.defer(() => stop());
  const file = openSync(output, "w");
  // The process gets its own group, so that Ctrl-C reaches only the bench, which stops processes in
  // order.
  const child = spawn(join(root, "script/server"), [], {
    cwd: root,
    env,
    detached: true,
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  const { pid } = child;
  if (pid === undefined) {
    const [error] = (await once(child, "error")) as [Error];
    throw error;
  }
  stop = () => {
    stopped ??= stopTree(child, pid).then(() => removeData(folder));
    return stopped;
  };
  return { child, pid, output, stop };
}

async function stopTree(child: ChildProcess, pid: number): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  signalTree(pid, "SIGCONT");
  const late = setTimeout(() => signalTree(pid, "SIGKILL"), maxStopMs);
  await exited;
  clearTimeout(late);
}

async function removeData(folder: string): Promise<void> {
  // If the user root started the server, PostgreSQL runs as another user and has its files in
  // another folder. `postgres.elsewhere` contains the path of that folder.
  const elsewhere = await readFile(join(folder, "data", "postgres.elsewhere"), "utf8").catch(
    () => "",
  );
  for (const one of [folder, elsewhere.trim()]) {
    if (one !== "") await rm(one, { recursive: true, force: true, maxRetries: 10 });
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Signals parents before their children, because a stopped parent starts no more children. */
function signalTree(root: number, name: NodeJS.Signals): void {
  for (const pid of family(root)) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has exited in the meantime.
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
