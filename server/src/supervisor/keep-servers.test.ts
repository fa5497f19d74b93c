import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { captureLog } from "../../test/capture-log.ts";
import { newId } from "../base/ids.ts";
import { createLog, type Log } from "../base/log.ts";
import { addRecent, heapFlags, keepServers } from "./keep-servers.ts";
import { MetricsCollector } from "./metrics-collector.ts";

const gib = 1024 ** 3;

test("servers share half of the memory, each at most 4 GiB and at least 256 MiB", () => {
  expect(heapFlags(1, "", 4 * gib)).toEqual(["--max-old-space-size=2048"]);
  expect(heapFlags(4, "", 4 * gib)).toEqual(["--max-old-space-size=512"]);
  expect(heapFlags(1, "", 64 * gib)).toEqual(["--max-old-space-size=4096"]);
  expect(heapFlags(8, "", 2 * gib)).toEqual(["--max-old-space-size=256"]);
});

test("a limit that the operator set is kept", () => {
  expect(heapFlags(1, "--max-old-space-size=700", 4 * gib)).toEqual([]);
  expect(heapFlags(1, "--max_old_space_size=700", 4 * gib)).toEqual([]);
});

/**
 * Runs `keepServers` with `count` 1 until `untilReady` processes, one after the other, have been
 * ready.
 * @param exits the value of EXIT for each process, in order: `1` exits after it was ready, `75` and
 *   `78` before, `75 <reason>` too, with this reason, and `crash` before but while it executes runs.
 *   `newId` first sends a new id, and then exits like `1`. `hang` blocks its event loop once it was
 *   ready, and `hangEarly` before but while it executes runs. A process without a value does not
 *   exit by itself.
 * @param options `ranMs`: milliseconds by which the clock advances while each process runs. The
 *   clock stands still otherwise; undefined for the system's clock.
 * @returns `args`: the arguments of the processes that were ready. `waits`: the reasons to wait for
 *   the database, each with the remaining milliseconds.
 */
async function keepOneServer(
  exits: readonly string[],
  {
    collector,
    untilReady = 2,
    ranMs,
    log = createLog("silent"),
  }: {
    collector?: MetricsCollector;
    untilReady?: number;
    ranMs?: readonly number[];
    log?: Log;
  } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), "beckon-servers-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const entry = join(folder, "server.mjs");
  const ready = {
    type: "ready",
    listening_url: "http://localhost",
    demo: null,
    setup_token: null,
    providers: [],
  };
  await writeFile(
    entry,
    `process.on("disconnect", () => process.exit());
     if (["75", "78"].includes(process.env.EXIT)) process.exit(Number(process.env.EXIT));
     if (process.env.EXIT?.startsWith("75 "))
       await new Promise((sent) => process.send({ type: "failed", reason: process.env.EXIT.slice(3) }, sent)).then(() => process.exit(75));
     if (process.env.EXIT === "crash")
       await new Promise((sent) => process.send({ type: "executing" }, sent)).then(() => process.kill(process.pid, "SIGKILL"));
     if (process.env.EXIT === "hangEarly")
       await new Promise((sent) => process.send({ type: "executing" }, sent)).then(() => { while (true); });
     if (process.env.EXIT === "newId") process.send({ type: "registered", process_id: "prc_new" });
     const ready = { ...${JSON.stringify(ready)}, url: process.argv.slice(2).join(" ") };
     process.send(ready, () => {
       while (process.env.EXIT === "hang");
       if (process.env.EXIT) process.exit(1);
     });`,
  );
  const stop = new AbortController();
  let starts = 0;
  let readyServers = 0;
  const args: string[] = [];
  const failures: string[] = [];
  const waits: (readonly [reason: string, maxWaitMs: number])[] = [];
  if (ranMs !== undefined) vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const exitCode = await keepServers({
    entry,
    count: 1,
    env: {
      PATH: process.env.PATH,
      get EXIT() {
        const ran = ranMs?.[starts];
        if (ran !== undefined) vi.advanceTimersByTime(ran);
        return exits[starts++];
      },
    },
    aloneOnDatabase: false,
    postgresLogPath: undefined,
    portFd: undefined,
    databaseWaitMs: 10_000,
    maxSilentMs: 600,
    drainMs: 10_000,
    stop: stop.signal,
    kill: new AbortController().signal,
    log,
    collector,
    onReady: ({ url }) => {
      args.push(url);
      readyServers++;
      if (readyServers === untilReady) stop.abort();
    },
    onWaiting: (reason, maxWaitMs) => waits.push([reason, maxWaitMs]),
    onFailure: (reason) => failures.push(reason),
    onDraining: () => {},
  });
  return { exitCode, readyServers, failures, args, waits };
}

test("each new reason to wait for the database comes with the time that is left", async () => {
  const exits = ["75 No address.", "75 Read-only."];
  const { waits } = await keepOneServer(exits, { untilReady: 1, ranMs: [1_000, 3_000, 0] });
  expect(waits).toEqual([
    ["No address.", 10_000],
    ["Read-only.", 7_000],
  ]);
});

test("a server is replaced even if the first attempt to start its process fails", async () => {
  // The second process cannot be started, because its environment is too large. This simulates the
  // usual cause, a lack of memory.
  expect(await keepOneServer(["1", "x".repeat(2_000_000)])).toMatchObject({
    exitCode: 0,
    readyServers: 2,
    failures: [],
  });
});

test("once a server was ready, one with an invalid configuration is replaced like any other", async () => {
  expect(await keepOneServer(["1", "78"])).toMatchObject({
    exitCode: 0,
    readyServers: 2,
    failures: [],
  });
});

test("a startup in which runs crash the server does not count as failed", async () => {
  expect(await keepOneServer(["crash", "crash", "crash"], { untilReady: 1 })).toMatchObject({
    exitCode: 0,
    readyServers: 1,
    failures: [],
  });
});

test("startup waits for the database from the first of the servers that cannot reach it", async () => {
  const ranMs = [6_000, 6_000, 6_000];
  expect(await keepOneServer(["75", "75", "75"], { ranMs, untilReady: 1 })).toMatchObject({
    exitCode: 75,
    readyServers: 0,
    failures: [expect.stringMatching(/^The database could not be reached for 10 s\. /)],
  });
});

test("the wait for the database begins anew after a server that lost it during a long migration", async () => {
  const ranMs = [6_000, 400_000, 6_000];
  expect(await keepOneServer(["75", "75", "75"], { ranMs, untilReady: 1 })).toMatchObject({
    exitCode: 0,
    readyServers: 1,
    failures: [],
  });
});

test.each([
  ["after it was ready", "hang", 2],
  ["because of a run during its startup", "hangEarly", 1],
])("a server that hangs %s is killed and replaced", async (_, exit, untilReady) => {
  const { log, named } = captureLog();
  const { exitCode } = await keepOneServer([exit], { log, untilReady });
  expect(exitCode).toBe(0);
  const hanging = "server does not respond and is killed";
  const [killed] = named(hanging);
  expect(killed).toMatchObject({ level: "error", reason: expect.stringContaining("0.6 s") });
  expect(named("server exited, starting another")).toMatchObject([
    { process_id: killed?.process_id, signal: "SIGKILL" },
  ]);
});

test("an exit is counted, except when Beckon stops, and reported with the server's last id", async () => {
  const collector = await MetricsCollector.create(createLog("silent"), 1);
  const { args } = await keepOneServer(["newId"], { collector });
  expect(await collector.collect()).toContain("\nbeckon_process_exits_total 1\n");
  expect(args[1]).toMatch(/ --exited=prc_new( |$)/);
});

test("the ids of exited servers fit into an argument, and include that of the last one", () => {
  const unrecorded = new Set<string>();
  const ids = Array.from({ length: 5_000 }, () => newId("prc"));
  for (const id of ids) addRecent(unrecorded, id);
  expect(`--exited=${[...unrecorded].join(",")}`.length).toBeLessThan(128 * 1_024);
  expect(unrecorded).toContain(ids.at(-1));
});
