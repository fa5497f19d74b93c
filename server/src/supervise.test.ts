import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  isAlive,
  postmasterPid,
  readIfThere,
  type Supervisor,
  seed,
  startSupervisor,
  temporaryFolder,
  until,
} from "../test/fixtures/supervisor.ts";
import { version } from "./base/version.ts";

/** Settings of an external PostgreSQL, so that the supervisor starts none itself. */
const withoutDatabase = {
  DATABASE_URL: "postgresql://somebody@127.0.0.1:1/none",
  BECKON_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
};

test("a start prints version and address, where its keys are, and commands without secrets", async () => {
  const folder = temporaryFolder();
  const { ready, output } = startSupervisor({ folder, cwd: folder });
  await ready();
  // The output is not a terminal, so paths are absolute also below the working folder.
  const shown = (name: string) => join(folder, "data", name);
  expect(output()).toContain(`Beckon ${version} is ready at http://127.0.0.1:3000\n`);
  expect(output()).toContain(join(folder, "data/bootstrap.key"));
  expect(output()).toContain(
    `curl http://127.0.0.1:3000/api/public/agents/agt_1/invoke -H "x-api-key: $(cat ${shown("demo.token")})" -H 'Content-Type: application/json' -d '{"input":"Hello"}'\n`,
  );
  expect(output()).toContain(
    `curl "$(cat ${shown("demo.trigger")})" -H 'Content-Type: text/plain' -d 'Hello from a trigger'\n`,
  );
  expect(output()).not.toMatch(/bka_|bkt_/);
  for (const name of ["master.key", "bootstrap.key", "demo.token", "demo.trigger"])
    expect(statSync(join(folder, "data", name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, "data/bootstrap.key"), "utf8")).toMatch(
    /^bootstrap_[\w-]{43}\n$/,
  );
  expect(Buffer.from(readFileSync(join(folder, "data/master.key"), "utf8"), "base64")).toHaveLength(
    32,
  );
});

test("Ctrl-C reaches only the supervisor, the servers drain while the database still answers, and nothing is left", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({ folder, env: { BECKON_PROCESSES: "2" } });
  await until("two servers", () => supervisor.trace().split("database beckon@beckon").length === 3);
  const postmaster = postmasterPid(join(folder, "data"));
  process.kill(-supervisor.pid, "SIGINT");
  expect(await supervisor.exited).toBe(0);
  expect(supervisor.trace().match(/drained, database beckon@beckon/g)).toHaveLength(2);
  expect(supervisor.trace()).not.toContain("SIGINT");
  expect(isAlive(postmaster)).toBe(false);
  expect(readFileSync(join(folder, "data/postgres.log"), "utf8")).toMatch(
    /database system is shut down\s*$/,
  );
  expect(existsSync(join(folder, "data/postgres/postmaster.pid"))).toBe(false);
});

test("a second Ctrl-C kills servers that take their time, and still stops the database in order", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({
    folder,
    env: { STAND_IN_STUBBORN: "1", BECKON_DRAIN_SECONDS: "100" },
  });
  await supervisor.ready();
  const server = Number(supervisor.trace().split(" ")[0]);
  supervisor.child.kill("SIGINT");
  // Waits, because the second SIGINT below could otherwise kill a slow server before it has handled
  // the request to end.
  await until("the request to end", () => supervisor.trace().includes("asked to end"));
  await until("the server's end", () => {
    // Signals within half a second after the first one are ignored, so SIGINT is sent repeatedly.
    supervisor.child.kill("SIGINT");
    return !isAlive(server);
  });
  expect(await supervisor.exited).toBe(0);
  expect(supervisor.trace().match(/asked to end/g)).toHaveLength(1);
  expect(readFileSync(join(folder, "data/postgres.log"), "utf8")).toMatch(
    /database system is shut down\s*$/,
  );
});

test("a server that has not exited when its drain time is over is killed", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({
    folder,
    env: { STAND_IN_STUBBORN: "1", BECKON_DRAIN_SECONDS: "0" },
  });
  await supervisor.ready();
  supervisor.child.kill("SIGTERM");
  expect(await supervisor.exited).toBe(0);
  expect(supervisor.trace()).toContain("asked to end");
});

test("Ctrl-C during a first start cancels it, and the next start begins again", async () => {
  const folder = temporaryFolder();
  const first = startSupervisor({ folder });
  await until("initdb", () => existsSync(join(folder, "data/postgres.log")));
  process.kill(-first.pid, "SIGINT");
  expect(await first.exited).toBe(0);
  const second = startSupervisor({ folder });
  await second.ready();
});

test("after kill -9 of the supervisor the servers exit, PostgreSQL stays, and the next start stops it", async () => {
  const folder = temporaryFolder();
  const first = startSupervisor({ folder });
  await first.ready();
  const orphan = postmasterPid(join(folder, "data"));
  process.kill(first.pid, "SIGKILL");
  await until("the server ends", () => first.trace().includes("disconnected"));
  expect(isAlive(orphan)).toBe(true);
  const second = startSupervisor({ folder });
  await second.ready();
  expect(isAlive(orphan)).toBe(false);
  expect(postmasterPid(join(folder, "data"))).not.toBe(orphan);
  expect(second.output()).toContain("stopping a PostgreSQL that outlived its supervisor");
});

test("kill -9 at 20 moments of a first start always leaves a folder that starts", {
  // A startup takes several seconds on a busy machine, and this test makes 41 of them.
  timeout: 600_000,
}, async () => {
  const measured = temporaryFolder();
  const began = performance.now();
  await startSupervisor({ folder: measured }).ready();
  const span = performance.now() - began;
  async function killAndStart(moment: number, withChildren: boolean): Promise<void> {
    const folder = temporaryFolder();
    const first = startSupervisor({ folder });
    await new Promise((later) => setTimeout(later, moment));
    // Every other time, the child processes are killed too, as when a container is killed.
    const victims = withChildren ? [first.pid, ...descendants(first.pid)] : [first.pid];
    for (const pid of victims) killIfAlive(pid);
    await first.exited;
    const second = startSupervisor({ folder });
    await second.ready().catch((thrown: unknown) => {
      throw new Error(`killed after ${moment} ms (seed ${seed})`, { cause: thrown });
    });
    expect(second.trace()).toContain("database beckon@beckon");
    process.kill(second.pid, "SIGTERM");
    expect(await second.exited).toBe(0);
  }
  // Divides the duration of a startup into 20 parts, and kills at a random moment of each part. Two
  // parts are tested at the same time.
  for (let slot = 0; slot < 20; slot += 2) {
    await Promise.all(
      [slot, slot + 1].map((at) =>
        killAndStart(((at + fraction(seed, at)) / 20) * span, at % 2 === 0),
      ),
    );
  }
});

/**
 * Kills a process. Ignores that the process has already exited, because the short-lived children of
 * initdb can exit before the signal is sent.
 */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH")) throw thrown;
  }
}

function descendants(pid: number): readonly number[] {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`)
    .split(" ")
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** Returns a number between 0 and 1 that depends only on the arguments. */
function fraction(seed: number, at: number): number {
  return createHash("sha256").update(`${seed} ${at}`).digest().readUInt32BE() / 2 ** 32;
}

test("a second start on the same folder fails with a clear message while the first one runs, and the first one stays", async () => {
  const folder = temporaryFolder();
  const first = startSupervisor({ folder });
  await first.ready();
  const postmaster = postmasterPid(join(folder, "data"));
  const second = startSupervisor({ folder });
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(
    `Another Beckon (process ${first.pid}) is running on the data folder`,
  );
  expect(postmasterPid(join(folder, "data"))).toBe(postmaster);
  expect(isAlive(postmaster) && isAlive(first.pid)).toBe(true);
});

test("a server that dies is replaced, its successor and the others get its id, and its child processes die with it", async () => {
  const folder = temporaryFolder();
  const { ready, trace } = startSupervisor({ folder, env: { BECKON_PROCESSES: "2" } });
  await ready();
  await until("two servers", () => trace().split("database beckon@beckon").length === 3);
  const started = [
    ...trace().matchAll(
      /^(\d+) started --process=(prc_\w+) --listen-fd=4 --postgres-log=(\S+)(?: --exited=(\w+))?(?: --setup)?$/gm,
    ),
  ];
  const postgresLog = join(folder, "data/postgres.log");
  expect(started.map((match) => match.slice(3))).toEqual([
    [postgresLog, "all"],
    [postgresLog, undefined],
  ]);
  // Only one server issues a setup link: only its link is printed.
  expect(trace().match(/--setup/g)).toHaveLength(1);
  const [, pid, id] = started[0] ?? [];
  process.kill(Number(pid), "SIGKILL");
  await until("a successor", () => trace().includes(`--exited=${id}\n`));
  expect(trace()).toContain(`message {"type":"exited","process_ids":["${id}"]}`);
  const helper = Number(new RegExp(`^${pid} helper (\\d+)$`, "m").exec(trace())?.[1]);
  await until("its helper ends", () => !isAlive(helper));
});

test("a server with an invalid configuration stops everything and is not started again", async () => {
  const folder = temporaryFolder();
  const env = { STAND_IN_EXIT: "78", STAND_IN_REASON: "The port is taken." };
  const supervisor = startSupervisor({ folder, env });
  expect(await supervisor.exited).toBe(78);
  expect(supervisor.output()).toContain(`Beckon ${version} cannot start. The port is taken.\n`);
  expect(supervisor.trace().match(/started/g)).toHaveLength(1);
  expect(postmasterPid(join(folder, "data"))).toBe(0);
});

test("an address that the machine does not have yet ends the start with an exit code after which systemd tries again", async () => {
  const exitCode = (env: Record<string, string>) =>
    startSupervisor({ folder: temporaryFolder(), env: { ...withoutDatabase, ...env } }).exited;
  const address = "192.0.2.1";
  const bySupervisor = [
    { HOST: address, BECKON_PROCESSES: "2" },
    { BECKON_METRICS_HOST: address, BECKON_METRICS_PORT: "0" },
  ];
  for (const env of [...bySupervisor, { STAND_IN_EXIT: "69" }])
    expect(await exitCode(env)).toBe(69);
});

test("a connection that PostgreSQL rejects ends the start at once", async () => {
  const env = {
    ...withoutDatabase,
    STAND_IN_EXIT: "77",
    STAND_IN_REASON: "The password is wrong.",
  };
  const supervisor = startSupervisor({ folder: temporaryFolder(), env });
  expect(await supervisor.exited).toBe(77);
  expect(supervisor.trace().match(/started/g)).toHaveLength(1);
  expect(supervisor.output()).toBe(`Beckon ${version} cannot start. The password is wrong.\n`);
});

/** Starts a supervisor with two servers that execute runs, and waits until both are ready. */
async function startTwoWithRuns(env: Record<string, string>): Promise<Supervisor> {
  const supervisor = startSupervisor({
    folder: temporaryFolder(),
    env: { ...withoutDatabase, BECKON_PROCESSES: "2", ...env },
  });
  await until("two servers", () => supervisor.trace().split("connect ECONNREFUSED").length === 3);
  await supervisor.ready();
  return supervisor;
}

test("a stop says once how many runs all servers finish, for how long, and how to stop now", async () => {
  const supervisor = await startTwoWithRuns({ STAND_IN_RUNS: "2" });
  supervisor.child.kill("SIGINT");
  expect(await supervisor.exited).toBe(0);
  expect(supervisor.output().match(/Finishing.*/g)).toEqual([
    "Finishing 4 runs, up to 5 s; Ctrl-C again to stop now. The next start resumes unfinished runs.",
  ]);
});

test("a server that does not report its runs does not hide those of another one", async () => {
  const env = { STAND_IN_RUNS: "1", STAND_IN_STUBBORN: "1", BECKON_DRAIN_SECONDS: "100" };
  const supervisor = await startTwoWithRuns(env);
  process.kill(Number(supervisor.trace().split(" ")[0]), "SIGSTOP");
  supervisor.child.kill("SIGINT");
  await until("the message", () => supervisor.output().includes("Finishing 1 run, up to 100 s;"));
  supervisor.child.kill("SIGINT");
  expect(await supervisor.exited).toBe(0);
});

test("an empty master key stops the start, since a new one could not decrypt stored secrets", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data/master.key"), "");
  const supervisor = startSupervisor({ folder });
  expect(await supervisor.exited).toBe(1);
  expect(supervisor.output()).toContain("master.key is empty");
  expect(postmasterPid(join(folder, "data"))).toBe(0);
});

test.each(["master.key", "bootstrap.key"])(
  "a damaged %s stops the start, and the message names the file and suggests no new key",
  async (name) => {
    const folder = temporaryFolder();
    const path = join(folder, "data", name);
    mkdirSync(join(folder, "data"));
    writeFileSync(path, "damaged\n");
    const supervisor = startSupervisor({ folder });
    expect(await supervisor.exited).toBe(78);
    expect(supervisor.output()).toContain(`${path} does not contain a `);
    expect(supervisor.output()).not.toMatch(/BECKON_|openssl/);
  },
);

test("with DATABASE_URL it starts only servers, passes the settings on, and keeps nothing but the demo's secrets", async () => {
  const folder = temporaryFolder();
  const env = withoutDatabase;
  const { ready, trace, output } = startSupervisor({ folder, env });
  await ready();
  expect(trace()).toMatch(/started --process=prc_\w+ --setup\n/);
  expect(trace()).toContain("connect ECONNREFUSED 127.0.0.1:1");
  expect(output()).not.toContain("Bootstrap key");
  expect(output()).toContain("There is no management key");
  expect(readdirSync(join(folder, "data")).sort()).toEqual(["demo.token", "demo.trigger"]);
});

test("with a data folder that cannot be written it starts, and says how to read the demo agent's token", async () => {
  const env = { ...withoutDatabase, BECKON_DATA_DIR: "/proc/nowhere/data" };
  const { ready, output } = startSupervisor({ folder: temporaryFolder(), env });
  await ready();
  expect(output()).toMatch(/secrets could not be written to the data folder: ENOENT/);
  expect(output()).toContain("curl http://127.0.0.1:3000/api/public/agents/agt_1/token -H");
  expect(output()).not.toMatch(/bka_|bkt_/);
});

test("a start whose servers exit before one was ready fails with the last one's exit code, and everything is stopped", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({
    folder,
    env: { STAND_IN_EXIT: "3", BECKON_PROCESSES: "2" },
  });
  expect(await supervisor.exited).toBe(3);
  expect(supervisor.trace().match(/started/g)).toHaveLength(3);
  expect(supervisor.output()).toContain(
    `Beckon ${version} cannot start. 3 servers exited before one was ready. The server exited with code 3;`,
  );
  expect(postmasterPid(join(folder, "data"))).toBe(0);
});

test("a server that was ready once is replaced however often it exits", async () => {
  const supervisor = startSupervisor({
    folder: temporaryFolder(),
    env: { ...withoutDatabase, STAND_IN_EXIT_READY: "3" },
  });
  await until("a fourth server", () => supervisor.trace().split("started").length > 4);
  expect(supervisor.child.exitCode).toBeNull();
});

test("a start waits for a database that cannot be reached, says why once, and then fails", async () => {
  const env = {
    ...withoutDatabase,
    STAND_IN_EXIT: "75",
    STAND_IN_REASON: "Nothing listens.",
    STAND_IN_DATABASE_WAIT_MS: "6000",
  };
  const supervisor = startSupervisor({ folder: temporaryFolder(), env });
  expect(await supervisor.exited).toBe(75);
  // At least three servers were started: after three exits for any other reason, the supervisor
  // would have given up with another message. More are not required, because on a busy machine each
  // server takes seconds to exit.
  expect(supervisor.trace().split("started").length).toBeGreaterThan(3);
  expect(supervisor.output()).toBe(
    "Waiting for PostgreSQL, at most 6 s. Nothing listens.\n" +
      `Beckon ${version} cannot start. The database could not be reached for 6 s. Nothing listens.\n`,
  );
});

test("a signal that does not ask to stop changes nothing, and opens no debugger", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({ folder });
  await supervisor.ready();
  const server = Number(supervisor.trace().split(" ")[0]);
  const ignored = ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGIO", "SIGSTKFLT"] as const;
  for (const signal of ignored) process.kill(supervisor.pid, signal);
  process.kill(server, "SIGUSR1");
  // The server is killed last. Once it has a successor, the other signals have been handled, and
  // any effect of them would be visible.
  process.kill(server, "SIGKILL");
  await until("a successor", () => supervisor.trace().includes("--exited=prc_"));
  expect(supervisor.output()).not.toContain("Debugger");
  expect(isAlive(postmasterPid(join(folder, "data")))).toBe(true);
});

test.each(["SIGQUIT", "SIGPWR", "SIGXCPU"] as const)(
  "%s stops everything in order",
  async (signal) => {
    const folder = temporaryFolder();
    const supervisor = startSupervisor({ folder });
    await supervisor.ready();
    process.kill(supervisor.pid, signal);
    expect(await supervisor.exited).toBe(0);
    expect(supervisor.trace()).toContain("drained, database beckon@beckon");
    expect(postmasterPid(join(folder, "data"))).toBe(0);
  },
);
