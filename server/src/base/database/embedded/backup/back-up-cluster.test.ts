import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../../test/fixtures/supervisor.ts";
import { createLog } from "../../../log.ts";
import { startEmbedded } from "../start-embedded.ts";
import { backUpCluster } from "./back-up-cluster.ts";

test("a backup that PostgreSQL ends because of its WAL says that the target is too slow", async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, "data");
  // Every backup begins with a switch to another WAL file and a checkpoint. With the limit 0, this
  // checkpoint ends the backup.
  const settings = { max_slot_wal_keep_size: "0" };
  const embedded = await startEmbedded({ dataDir, log: createLog("silent"), settings });
  onTestFinished(() => embedded.stop());
  const client = new Client({ connectionString: embedded.url });
  await client.connect();
  await client.query("create table installation (master_key_check text)");
  await client.end();
  await expect(
    backUpCluster({ dataDir, target: join(folder, "backup"), version: "1" }),
  ).rejects.toThrow("The target was too slow: PostgreSQL ended the backup after 0 of WAL");
});
