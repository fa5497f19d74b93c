import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { addRecent, heapFlags, keepServers } from "./keep-servers.ts";

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

test("a server is replaced even if the first attempt to start its process fails", async () => {
  const folder = await mkdtemp(join(tmpdir(), "beckon-servers-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const entry = join(folder, "server.mjs");
  const ready = {
    type: "ready",
    url: "http://localhost",
    listening_url: "http://localhost",
    demo: null,
    setup_token: null,
    providers: [],
  };
  await writeFile(
    entry,
    `process.on("disconnect", () => process.exit());
     process.send(${JSON.stringify(ready)}, () => process.env.EXITS && process.exit(1));`,
  );
  const stop = new AbortController();
  let starts = 0;
  let readyServers = 0;
  const failures: string[] = [];
  const exitCode = await keepServers({
    entry,
    count: 1,
    env: {
      PATH: process.env.PATH,
      // The first server exits. The second process cannot be started, because its environment is
      // too large. This replaces the usual cause, a lack of memory.
      get EXITS() {
        return ["1", "x".repeat(2_000_000)][starts++];
      },
    },
    aloneOnDatabase: false,
    portFd: undefined,
    databaseWaitMs: 10_000,
    drainMs: 10_000,
    stop: stop.signal,
    hurry: new AbortController().signal,
    log: createLog("silent"),
    collector: undefined,
    onReady: () => {
      readyServers++;
      if (readyServers === 2) stop.abort();
    },
    onWaiting: () => {},
    onFailure: (reason) => failures.push(reason),
    onDraining: () => {},
  });
  expect({ exitCode, readyServers, failures }).toEqual({
    exitCode: 0,
    readyServers: 2,
    failures: [],
  });
});

test("the ids of exited servers fit into an argument, and include that of the last one", () => {
  const unrecorded = new Set<string>();
  const ids = Array.from({ length: 5_000 }, () => newId("prc"));
  for (const id of ids) addRecent(unrecorded, id);
  expect(`--reaped=${[...unrecorded].join(",")}`.length).toBeLessThan(128 * 1_024);
  expect(unrecorded).toContain(ids.at(-1));
});
