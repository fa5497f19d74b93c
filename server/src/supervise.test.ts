import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  isAlive,
  postmasterPid,
  readIfThere,
  seed,
  startSupervisor,
  temporaryFolder,
  until,
} from "../test/fixtures/supervisor.ts";

test("a start prints where Beckon is, where its keys are, and lines to paste", async () => {
  const folder = temporaryFolder();
  const { ready, output } = startSupervisor({ folder });
  await ready();
  expect(output()).toContain("Beckon is ready at http://127.0.0.1:3000\n");
  expect(output()).toContain(join(folder, "data/bootstrap.key"));
  expect(output()).toContain(
    `curl http://127.0.0.1:3000/api/public/agents/agt_1/invoke -H 'x-api-key: bka_1' -H 'Content-Type: application/json' -d '{"input":"Hello"}'\n`,
  );
  expect(output()).toContain(
    "curl http://127.0.0.1:3000/api/public/triggers/bkt_1 -H 'Content-Type: text/plain' -d 'Hello from a trigger'\n",
  );
  for (const name of ["master.key", "bootstrap.key"])
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

test("a second Ctrl-C ends servers that take their time, and still stops the database in order", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({
    folder,
    env: { STAND_IN_STUBBORN: "1", BECKON_DRAIN_SECONDS: "100" },
  });
  await supervisor.ready();
  const server = Number(supervisor.trace().split(" ")[0]);
  await until("the server's end", () => {
    // The first half second counts as one: npm and shells pass on what the terminal has sent already.
    supervisor.child.kill("SIGINT");
    return !isAlive(server);
  });
  expect(await supervisor.exited).toBe(0);
  expect(supervisor.trace().match(/asked to end/g)).toHaveLength(1);
  expect(readFileSync(join(folder, "data/postgres.log"), "utf8")).toMatch(
    /database system is shut down\s*$/,
  );
});

test("a server that is not done when its drain time is over is killed", async () => {
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

test("Ctrl-C during a first start gives it up, and the next start begins anew", async () => {
  const folder = temporaryFolder();
  const first = startSupervisor({ folder });
  await until("initdb", () => existsSync(join(folder, "data/postgres.log")));
  process.kill(-first.pid, "SIGINT");
  expect(await first.exited).toBe(0);
  const second = startSupervisor({ folder });
  await second.ready();
});

test("after kill -9 of the supervisor the servers end, PostgreSQL goes on, and the next start stops it", async () => {
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
  timeout: 120_000,
}, async () => {
  const measured = temporaryFolder();
  const began = performance.now();
  await startSupervisor({ folder: measured }).ready();
  const span = performance.now() - began;
  async function killAndStart(moment: number, withChildren: boolean): Promise<void> {
    const folder = temporaryFolder();
    const first = startSupervisor({ folder });
    await new Promise((later) => setTimeout(later, moment));
    // Every other time with all that it has started, as when a container is killed.
    const doomed = withChildren ? [first.pid, ...descendants(first.pid)] : [first.pid];
    for (const pid of doomed) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    await first.exited;
    const second = startSupervisor({ folder });
    await second.ready().catch((thrown: unknown) => {
      throw new Error(`killed after ${moment} ms (seed ${seed})`, { cause: thrown });
    });
    expect(second.trace()).toContain("database beckon@beckon");
    process.kill(second.pid, "SIGTERM");
    expect(await second.exited).toBe(0);
  }
  // Two at a time; each moment is random within its own twentieth of the span.
  for (let slot = 0; slot < 20; slot += 2) {
    await Promise.all(
      [slot, slot + 1].map((at) =>
        killAndStart(((at + fraction(seed, at)) / 20) * span, at % 2 === 0),
      ),
    );
  }
});

function descendants(pid: number): readonly number[] {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`)
    .split(" ")
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** Between 0 and 1, the same for the same numbers. */
function fraction(seed: number, at: number): number {
  return createHash("sha256").update(`${seed} ${at}`).digest().readUInt32BE() / 2 ** 32;
}

test("a second start on the same folder ends within 5 seconds with a clear message, and the first goes on", async () => {
  const folder = temporaryFolder();
  const first = startSupervisor({ folder });
  await first.ready();
  const postmaster = postmasterPid(join(folder, "data"));
  const began = performance.now();
  const second = startSupervisor({ folder });
  expect(await second.exited).toBe(1);
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(second.output()).toContain(
    `Another Beckon (process ${first.pid}) is running on the data folder`,
  );
  expect(postmasterPid(join(folder, "data"))).toBe(postmaster);
  expect(isAlive(postmaster) && isAlive(first.pid)).toBe(true);
});

test("a server that dies is replaced, its successor and the living are told, and what it had started dies with it", async () => {
  const folder = temporaryFolder();
  const { ready, trace } = startSupervisor({ folder, env: { BECKON_PROCESSES: "2" } });
  await ready();
  await until("two servers", () => trace().split("database beckon@beckon").length === 3);
  const started = [
    ...trace().matchAll(
      /^(\d+) started --process=(prc_\w+) --listen-fd=4(?: --reaped=(\w+))?(?: --setup)?$/gm,
    ),
  ];
  expect(started.map((match) => match[3])).toEqual(["all", undefined]);
  // One makes the link for the first owner: another would end the one that was printed.
  expect(trace().match(/--setup/g)).toHaveLength(1);
  const [, pid, id] = started[0] ?? [];
  process.kill(Number(pid), "SIGKILL");
  await until("a successor", () => trace().includes(`--reaped=${id}\n`));
  expect(trace()).toContain(`message {"type":"reaped","process_ids":["${id}"]}`);
  const helper = Number(new RegExp(`^${pid} helper (\\d+)$`, "m").exec(trace())?.[1]);
  await until("its helper ends", () => !isAlive(helper));
});

test("a server that refuses its configuration stops everything and is not started again", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({ folder, env: { STAND_IN_EXIT: "78" } });
  expect(await supervisor.exited).toBe(78);
  expect(supervisor.trace().match(/started/g)).toHaveLength(1);
  expect(postmasterPid(join(folder, "data"))).toBe(0);
});

test("an empty master key stops the start, since a new one would not open what the old one sealed", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data/master.key"), "");
  const supervisor = startSupervisor({ folder });
  expect(await supervisor.exited).toBe(1);
  expect(supervisor.output()).toContain("master.key is empty");
  expect(postmasterPid(join(folder, "data"))).toBe(0);
});

test("with DATABASE_URL it starts servers only, hands them the settings as given, and makes no data folder", async () => {
  const folder = temporaryFolder();
  const key = Buffer.alloc(32, 7).toString("base64");
  const env = { DATABASE_URL: "postgresql://somebody@127.0.0.1:1/none", BECKON_MASTER_KEY: key };
  const { ready, trace, output } = startSupervisor({ folder, env });
  await ready();
  expect(trace()).toMatch(/started --process=prc_\w+ --setup\n/);
  expect(trace()).toContain("connect ECONNREFUSED 127.0.0.1:1");
  expect(output()).not.toContain("Bootstrap key");
  expect(existsSync(join(folder, "data"))).toBe(false);
});

test("a start whose servers end before one was ready is given up, with the last one's exit code and everything stopped", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({
    folder,
    env: { STAND_IN_EXIT: "3", BECKON_PROCESSES: "2" },
  });
  expect(await supervisor.exited).toBe(3);
  expect(supervisor.trace().match(/started/g)).toHaveLength(3);
  expect(supervisor.output()).toContain(
    "Beckon cannot start. The server ended 3 times before it was ready (exit code 3).",
  );
  expect(postmasterPid(join(folder, "data"))).toBe(0);
});

test("a server that was ready once is started again however often it ends", async () => {
  const supervisor = startSupervisor({
    folder: temporaryFolder(),
    env: { STAND_IN_EXIT_READY: "3" },
  });
  await until("a fourth server", () => supervisor.trace().split("started").length > 4);
  expect(supervisor.child.exitCode).toBeNull();
});

test("a database that cannot be reached is waited for, and then the start is given up", async () => {
  const key = Buffer.alloc(32, 7).toString("base64");
  const env = {
    DATABASE_URL: "postgresql://somebody@127.0.0.1:1/none",
    BECKON_MASTER_KEY: key,
    STAND_IN_EXIT: "75",
    STAND_IN_DATABASE_WAIT_MS: "6000",
  };
  const supervisor = startSupervisor({ folder: temporaryFolder(), env });
  expect(await supervisor.exited).toBe(75);
  expect(supervisor.trace().split("started").length).toBeGreaterThan(4);
  expect(supervisor.output()).toContain(
    "Beckon cannot start. The database could not be reached for 6 s. Check DATABASE_URL",
  );
});

test("a signal that does not ask for an end changes nothing, and opens no debugger", async () => {
  const folder = temporaryFolder();
  const supervisor = startSupervisor({ folder });
  await supervisor.ready();
  const server = Number(supervisor.trace().split(" ")[0]);
  const ignored = ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGIO", "SIGSTKFLT"] as const;
  for (const signal of ignored) process.kill(supervisor.pid, signal);
  process.kill(server, "SIGUSR1");
  // The message about the server's end comes after what the signals did.
  process.kill(server, "SIGKILL");
  await until("a successor", () => supervisor.trace().includes("--reaped=prc_"));
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
