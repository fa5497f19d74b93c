import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { restore } from "./restore.ts";

test("a file that contains no master key is named, whether it is given or in the data folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "beckon-restore-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const backup = {
    format: 1,
    beckon: "1.0.0",
    postgresql: "18.4",
    started_at: "2026-01-01T00:00:00.000Z",
    complete_until: "2026-01-01T00:00:00.000Z",
    master_key: "v1.01234567.",
    bytes: 0,
    folders: [],
    files: [],
  };
  await writeFile(join(folder, "backup.json"), JSON.stringify(backup));
  const expected = (file: string) => ({
    code: "invalid_setting",
    message: expect.stringContaining(`${file} does not contain a master key`),
  });

  const given = join(folder, "bootstrap.key");
  await writeFile(given, "bootstrap_0123456789");
  const elsewhere = { BECKON_DATA_DIR: join(folder, "new") };
  await expect(restore(elsewhere, folder, { masterKeyFile: given })).rejects.toMatchObject(
    expected(given),
  );

  const stored = join(folder, "master.key");
  await writeFile(stored, "");
  await expect(restore({ BECKON_DATA_DIR: folder }, folder)).rejects.toMatchObject(
    expected(stored),
  );
});
