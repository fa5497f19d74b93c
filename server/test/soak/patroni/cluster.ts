import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { elapsed } from "../../../src/base/clock.ts";
import { eventually } from "../../eventually.ts";

/**
 * A PostgreSQL cluster of three nodes with a synchronous standby, from Debian's packages: etcd,
 * Patroni, PostgreSQL, and HAProxy in front, which passes connections to the node whose Patroni
 * responds 200 at `/primary`. All listen on 127.0.0.1 only.
 */
export interface Cluster {
  /** URL with which a superuser connects through HAProxy to the primary's database `postgres`. */
  readonly adminUrl: string;
  /** Host and port of HAProxy. */
  readonly host: string;
  /** Returns the name of the primary; undefined while there is none. */
  primary(): Promise<string | undefined>;
  /** Kills PostgreSQL and Patroni of a node with SIGKILL, as if its machine had lost power. */
  kill(name: string): void;
  /** Starts a killed node again. Resolves when the primary has a synchronous standby. */
  restart(name: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Seconds after which Patroni replaces a primary that does not renew its lock (`ttl`, the smallest
 * value that Patroni accepts), and the related intervals.
 */
export const patroniSeconds = { ttl: 20, loopWait: 5, retryTimeout: 5 };

const packages = { etcd: "etcd-server", patroni: "patroni", haproxy: "haproxy" };
const path = `${process.env.PATH}:/usr/sbin:/usr/bin`;
const postgresBin = "/usr/lib/postgresql/15/bin";
const maxStartMs = 120_000;

/** Installs the packages that are missing. RUNLEVEL=1 keeps apt from starting their daemons. */
function installPackages(): void {
  const isMissing = (program: string) => {
    try {
      execFileSync("sh", ["-c", `command -v ${program}`], { env: { PATH: path }, stdio: "ignore" });
      return false;
    } catch {
      return true;
    }
  };
  const missing = Object.entries(packages)
    .filter(([program]) => isMissing(program))
    .map(([, name]) => name);
  if (isMissing(`${postgresBin}/postgres`)) missing.push("postgresql-15");
  if (missing.length === 0) return;
  const env = { ...process.env, RUNLEVEL: "1", DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update"], { env, stdio: "ignore" });
  execFileSync("apt-get", ["install", "-y", "--no-install-recommends", ...missing], {
    env,
    stdio: "ignore",
  });
}

interface ClusterOptions {
  /** Empty folder for all files; removed by the caller. */
  readonly folder: string;
  /** Returns a free port. */
  readonly freePort: () => Promise<number>;
  readonly password: string;
}

/**
 * Starts the cluster.
 * @throws Error if the user is not root: PostgreSQL runs as the user `postgres`, which only root
 *   can become.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  if (process.getuid?.() !== 0)
    throw new Error("The Patroni cluster needs root. Run it as root, for example in a container.");
  installPackages();
  const { folder, freePort, password } = options;
  const uid = Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" }));
  const gid = Number(execFileSync("id", ["-g", "postgres"], { encoding: "utf8" }));
  chownSync(folder, uid, gid);
  const children = new Set<ChildProcess>();
  const run = (name: string, file: string, args: readonly string[], asPostgres = false) => {
    const [program, ...rest] = asPostgres
      ? ["runuser", "-u", "postgres", "--", file, ...args]
      : [file, ...args];
    const child = spawn(program ?? "", rest, {
      cwd: folder,
      env: { PATH: path, HOME: folder, LANG: "C.UTF-8" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const log = createWriteStream(join(folder, `${name}.log`), { flags: "a" });
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  };

  const [etcdPort, peerPort, haproxyPort] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  run("etcd", "etcd", [
    ...["--data-dir", join(folder, "etcd"), "--name", "etcd"],
    ...["--listen-client-urls", etcdUrl, "--advertise-client-urls", etcdUrl],
    ...["--listen-peer-urls", peerUrl, "--initial-advertise-peer-urls", peerUrl],
    ...["--initial-cluster", `etcd=${peerUrl}`],
  ]);
  await eventually("etcd", () => isOk(`${etcdUrl}/health`), maxStartMs);

  const names = ["node1", "node2", "node3"];
  const nodes = new Map<
    string,
    { patroni: ChildProcess; rest: number; port: number; data: string }
  >();
  for (const name of names) {
    const [rest, port] = [await freePort(), await freePort()];
    const data = join(folder, name);
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, uid, gid);
    const file = join(folder, `${name}.yml`);
    writeFileSync(file, patroniConfig({ name, rest, port, data, etcdPort, password, folder }));
    chownSync(file, uid, gid);
    const patroni = run(name, "patroni", [file], true);
    nodes.set(name, { patroni, rest, port, data });
    // The first node creates the cluster. The other nodes are started after it is the primary, so
    // that they join its cluster.
    if (name === names[0])
      await eventually(
        "the first primary",
        () => isOk(`http://127.0.0.1:${rest}/primary`),
        maxStartMs,
      );
  }

  const haproxy = join(folder, "haproxy.cfg");
  writeFileSync(haproxy, haproxyConfig(haproxyPort, [...nodes.entries()]));
  run("haproxy", "haproxy", ["-db", "-f", haproxy]);

  const primary = async () => {
    for (const [name, { rest }] of nodes)
      if (await isOk(`http://127.0.0.1:${rest}/primary`)) return name;
    return undefined;
  };
  const hasSynchronousStandby = async () => {
    for (const { rest } of nodes.values())
      if (await isOk(`http://127.0.0.1:${rest}/synchronous`)) return true;
    return undefined;
  };
  /** Waits for all nodes, so that each failover begins with a complete cluster. */
  const complete = () =>
    eventually(
      "a primary, a synchronous standby and another standby",
      async () => {
        const health = await Promise.all(
          [...nodes.values()].map(({ rest }) => isOk(`http://127.0.0.1:${rest}/health`)),
        );
        return (health.every(Boolean) && (await hasSynchronousStandby())) || undefined;
      },
      maxStartMs,
    );
  await complete();
  return {
    adminUrl: `postgresql://postgres:${password}@127.0.0.1:${haproxyPort}/postgres`,
    host: `127.0.0.1:${haproxyPort}`,
    primary,
    kill(name) {
      const { patroni, data } = nodeOf(name);
      killGroup(patroni);
      for (const pid of processesOf(data)) kill(pid);
    },
    async restart(name) {
      const node = nodeOf(name);
      node.patroni = run(name, "patroni", [join(folder, `${name}.yml`)], true);
      await complete();
    },
    async close() {
      for (const child of children) killGroup(child);
      for (const { data } of nodes.values()) for (const pid of processesOf(data)) kill(pid);
      await eventually("the end of the cluster", () => children.size === 0 || undefined, 30_000);
    },
  };

  function nodeOf(name: string) {
    const node = nodes.get(name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }
}

/** Returns true if a GET gets 200; else undefined. */
async function isOk(url: string): Promise<true | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200 || undefined;
}

/** Kills a process and its children. They form one process group: `run` starts it `detached`. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) kill(-pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
}

/** Returns the process ids of the postmaster with this data folder, and of its children. */
function processesOf(data: string): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split(
    "\n",
  );
  const all = lines.map((line) => {
    const [, pid, parent, command = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return { pid: Number(pid), parent: Number(parent), command };
  });
  const postmasters = all
    .filter(({ command }) => command.includes(`-D ${data}`))
    .map(({ pid }) => pid);
  const children = all.filter(({ parent }) => postmasters.includes(parent)).map(({ pid }) => pid);
  return [...postmasters, ...children].filter((pid) => pid > 0);
}

function haproxyConfig(
  listen: number,
  nodes: readonly (readonly [string, { rest: number; port: number }])[],
): string {
  const servers = nodes.map(
    ([name, { rest, port }]) => `  server ${name} 127.0.0.1:${port} check port ${rest}`,
  );
  return `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen primary
  bind 127.0.0.1:${listen}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join("\n")}
`;
}

function patroniConfig({
  name,
  rest,
  port,
  data,
  etcdPort,
  password,
  folder,
}: {
  name: string;
  rest: number;
  port: number;
  data: string;
  etcdPort: number;
  password: string;
  folder: string;
}): string {
  const { ttl, loopWait, retryTimeout } = patroniSeconds;
  return `scope: beckon
name: ${name}
restapi:
  listen: 127.0.0.1:${rest}
  connect_address: 127.0.0.1:${rest}
etcd3:
  hosts: 127.0.0.1:${etcdPort}
bootstrap:
  dcs:
    ttl: ${ttl}
    loop_wait: ${loopWait}
    retry_timeout: ${retryTimeout}
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 100
        wal_log_hints: "on"
  initdb:
    - encoding: UTF8
    - locale: C.UTF-8
    - data-checksums
  pg_hba:
    - host replication replicator 127.0.0.1/32 scram-sha-256
    - host all all 127.0.0.1/32 scram-sha-256
postgresql:
  listen: 127.0.0.1:${port}
  connect_address: 127.0.0.1:${port}
  data_dir: ${data}
  bin_dir: ${postgresBin}
  pgpass: ${join(folder, `${name}.pgpass`)}
  authentication:
    superuser: { username: postgres, password: ${password} }
    replication: { username: replicator, password: ${password} }
    rewind: { username: rewinder, password: ${password} }
  parameters:
    unix_socket_directories: ""
`;
}

/** Seconds since `began`, a value of `elapsed()`, with one decimal. */
export function secondsSince(began: number): number {
  return Math.round((elapsed() - began) / 100) / 10;
}
