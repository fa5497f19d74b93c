import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockDataFolder } from "../data-folder/index.ts";
import { type BackupFile, backupFileName, readBackupFile } from "./backup-file.ts";
import { restoreCluster } from "./restore-cluster.ts";

/** These tests restore backups that are rejected, most of them before PostgreSQL is started. */

let folder: string;
let backupDir: string;
let dataDir: string;
const content = "x".repeat(100);
const description: BackupFile = {
  format: 1,
  beckon: "0.1.0",
  postgresql: "18.4",
  started_at: "2026-11-22T00:00:00.000Z",
  complete_until: "2026-11-22T00:00:01.000Z",
  master_key: null,
  bytes: content.length,
  folders: ["base"],
  files: [
    {
      path: "base/1259",
      bytes: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
    },
  ],
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-restore-"));
  backupDir = join(folder, "backup");
  dataDir = join(folder, "data");
  mkdirSync(join(backupDir, "postgres/base"), { recursive: true });
  writeFileSync(join(backupDir, "postgres/base/1259"), content);
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = () => join(backupDir, "postgres/base/1259");
const restore = (changes: Partial<BackupFile> = {}, signal?: AbortSignal) =>
  restoreCluster({
    backupDir,
    backup: { ...description, ...changes },
    dataDir,
    sql: "select 1;",
    ...(signal === undefined ? {} : { signal }),
  });
const clusters = () => readdirSync(dataDir).filter((name) => name.startsWith("postgres"));

test.each([
  ["is missing", () => unlinkSync(path())],
  ["has 99 bytes instead of 100", () => truncateSync(path(), 99)],
  ["has another checksum", () => writeFileSync(path(), "y".repeat(100))],
  [
    "is missing",
    () => {
      writeFileSync(join(folder, "elsewhere"), content);
      unlinkSync(path());
      symlinkSync(join(folder, "elsewhere"), path());
    },
  ],
])("a backup in which a file %s is rejected, and nothing is left", async (what, damage) => {
  damage();
  await expect(restore()).rejects.toThrow(
    `The backup is incomplete or damaged: ${path()} ${what}. Nothing was restored.`,
  );
  expect(clusters()).toEqual([]);
});

test("a backup that PostgreSQL cannot recover is rejected, and nothing is left", async () => {
  await expect(restore()).rejects.toThrow("postgres failed");
  expect(clusters()).toEqual([]);
});

test("what a killed restore left is removed before the free space is checked", async () => {
  mkdirSync(join(dataDir, "postgres.new-left/base"), { recursive: true });
  await expect(restore({ bytes: 2 ** 52 })).rejects.toThrow("There is not enough space");
  expect(clusters()).toEqual([]);
});

test("a backup of another major version, and one that needs too much space, are rejected", async () => {
  await expect(restore({ postgresql: "17.2" })).rejects.toThrow("was made by PostgreSQL 17");
  await expect(restore({ bytes: 2 ** 52 })).rejects.toThrow(
    `There is not enough space in ${dataDir}: `,
  );
  expect(clusters()).toEqual([]);
});

test("a folder with an installation, or on which Beckon runs, is not changed", async () => {
  mkdirSync(join(dataDir, "postgres"), { recursive: true });
  writeFileSync(join(dataDir, "postgres/PG_VERSION"), "18");
  await expect(restore()).rejects.toThrow("already contains an installation");
  const lock = lockDataFolder(dataDir);
  await expect(restore()).rejects.toThrow("Stop it first");
  lock.release();
  expect(readdirSync(join(dataDir, "postgres"))).toEqual(["PG_VERSION"]);
});

test("if the files are in a folder of another user, the message names all that must be moved", async () => {
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "postgres.elsewhere"), "/var/lib/beckon/0123/home\n");
  await expect(restore()).rejects.toThrow(
    `move ${join(dataDir, "postgres.elsewhere")} and /var/lib/beckon/0123/home/postgres away first`,
  );
});

test("a restore that is cancelled leaves nothing", async () => {
  await expect(restore({}, AbortSignal.abort(new Error("cancelled")))).rejects.toThrow("cancelled");
  expect(clusters()).toEqual([]);
});

test.each([
  ["", "is damaged"],
  ['{"format":2}', "is damaged"],
  [JSON.stringify({ ...description, folders: ["../outside"] }), "is damaged"],
  [undefined, "contains no complete backup"],
])("the description %j of a backup is rejected", async (text, message) => {
  if (text !== undefined) writeFileSync(join(backupDir, backupFileName), text);
  await expect(readBackupFile(backupDir)).rejects.toThrow(message);
});
