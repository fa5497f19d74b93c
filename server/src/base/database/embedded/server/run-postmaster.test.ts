import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { captureLog } from "../../../../../test/capture-log.ts";
import {
  isAlive,
  readIfThere,
  temporaryFolder,
  until,
} from "../../../../../test/fixtures/supervisor.ts";
import { openLogFile } from "./log-file.ts";
import { runPostmaster } from "./run-postmaster.ts";

/**
 * Starts a shell script in place of PostgreSQL. `write_status` in the script writes a
 * `postmaster.pid` with this status.
 */
function runScript(script: string, maxSilenceMs: number) {
  const cluster = temporaryFolder();
  mkdirSync(join(cluster, "bin"));
  writeFileSync(
    join(cluster, "bin/postgres"),
    `#!/bin/sh
     cd "$2"
     echo $$ > pid
     write_status() {
       printf '%s\\n' $$ "$PWD" 1 5432 socket "" "1 2" "$1" > new.pid && mv new.pid postmaster.pid
     }
     ${script}
     exec sleep 100`,
    { mode: 0o755 },
  );
  const logFile = openLogFile(join(cluster, "postgres.log"));
  onTestFinished(() => logFile.close());
  const { log, named } = captureLog();
  const stopping = new AbortController();
  const started = runPostmaster({
    placement: {
      binaries: { native: cluster, version: "18" },
      home: cluster,
      owner: undefined,
      wrapper: [],
    },
    cluster,
    settings: {},
    logFile,
    signal: stopping.signal,
    log,
    maxSilenceMs,
    reportMs: 50,
  });
  onTestFinished(async () => {
    stopping.abort();
    await started.catch(() => {});
  });
  const reports = () => named("PostgreSQL is still starting");
  return { cluster, started, reports };
}

test("a PostgreSQL that recovers is waited for without a limit, and the log says so", async () => {
  const script = "write_status starting; until [ -e go ]; do sleep 0.01; done; write_status ready";
  const { cluster, started, reports } = runScript(script, 3_000);
  await until("a report after the limit", () => (reports().at(-1)?.duration_ms ?? 0) > 4_000);
  writeFileSync(join(cluster, "go"), "");
  const postmaster = await started;
  await postmaster.stop();
  expect(isAlive(postmaster.pid)).toBe(false);
});

test("a PostgreSQL that writes no postmaster.pid is stopped after a time", async () => {
  const { cluster, started } = runScript("", 500);
  await expect(started).rejects.toThrow("PostgreSQL did not start within 0.5 s.");
  expect(isAlive(Number(readIfThere(join(cluster, "pid"))))).toBe(false);
});
