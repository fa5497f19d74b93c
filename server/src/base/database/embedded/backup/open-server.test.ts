import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openServer } from "./open-server.ts";

const nobody = 65_534;

test("a data folder that this user cannot open is not reported as one without an installation", async () => {
  const folder = mkdtempSync(join(tmpdir(), "beckon-source-"));
  onTestFinished(() => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
  });
  chmodSync(folder, 0);
  if (process.geteuid?.() === 0) {
    // Root can open every folder, so the test continues as another user.
    process.seteuid?.(nobody);
    onTestFinished(() => process.seteuid?.(0));
  }
  await expect(openServer(folder)).rejects.toThrow(
    `${join(folder, "postgres/PG_VERSION")} cannot be read (EACCES). Run this as the user who owns`,
  );
});
