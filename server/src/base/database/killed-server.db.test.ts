import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kill } from "node:process";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../test/eventually.ts";
import { startGuard } from "../../../test/guard.ts";
import { answered, brokenGuarantees, type Target, underLoad, wrong } from "../../../test/load.ts";
import { readConfig } from "../../config.ts";
import { start } from "../../main.ts";
import { createLog } from "../log.ts";
import { connect } from "./connect.ts";
import { startEmbedded } from "./embedded/index.ts";

/**
 * This file uses its own PostgreSQL, which is killed under load. That PostgreSQL runs without
 * fsync, because fsync protects only against power failures. This file also tests that Beckon
 * rejects a server without fsync unless BECKON_TRUST_STORAGE is 1.
 */

const guard = startGuard();
const dataDir = await mkdtemp(join(tmpdir(), "beckon-test-killed-"));
guard.watch(dataDir);
const embedded = await startEmbedded({
  dataDir,
  log: createLog("silent"),
  settings: { fsync: "off", full_page_writes: "off" },
});
if (embedded.elsewhere !== undefined) guard.watch(embedded.elsewhere);
afterAll(async () => {
  await embedded.stop();
  await guard.release();
});

const environment = {
  PORT: "0",
  LOG_LEVEL: "silent",
  DATABASE_URL: embedded.url,
  BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
  BECKON_DRAIN_SECONDS: "1",
};

test("a server with unsafe storage is rejected, and the error names the settings", async () => {
  await expect(start({ config: readConfig(environment) })).rejects.toThrow(
    /The database server runs with (fsync=off, full_page_writes=off|full_page_writes=off, fsync=off).*BECKON_TRUST_STORAGE=1/,
  );
});

test("PostgreSQL is killed under load: responses are correct or 503, and no acknowledged write is lost", async () => {
  const beckon = await start({ config: readConfig({ ...environment, BECKON_TRUST_STORAGE: "1" }) });
  const database = connect({
    url: embedded.url,
    poolSize: 4,
    role: undefined,
    log: createLog("silent"),
  });
  try {
    const { demo } = beckon;
    if (demo?.agent_token == null || demo.trigger_url === null)
      throw new Error("a first start creates a demo agent");
    const target: Target = {
      url: beckon.url,
      agentId: demo.agent_id,
      agentToken: demo.agent_token,
      triggerUrl: demo.trigger_url,
    };
    const ready = async () => (await fetch(`${beckon.url}/readyz`)).status;
    expect(await ready()).toBe(200);

    const exchanges = await underLoad(target, async (soFar) => {
      for (let time = 0; time < 2; time++) {
        await answered(soFar, 100);
        const { pid } = embedded;
        kill(pid, "SIGKILL");
        await eventually("a new PostgreSQL", () => embedded.pid !== pid || undefined);
        await answered(soFar, 100);
      }
    });
    expect(wrong(exchanges)).toEqual([]);
    await eventually("readiness", async () => (await ready()) === 200 || undefined);
    expect(await brokenGuarantees(database, exchanges)).toEqual([]);
  } finally {
    await database.close();
    await beckon.stop();
  }
});
