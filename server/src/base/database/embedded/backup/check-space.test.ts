import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { checkSpace } from "./check-space.ts";

test("a backup on the disk of the data folder must leave 1 GiB free", () => {
  const folder = tmpdir();
  const { bavail, bsize } = statfsSync(folder);
  const bytes = bavail * bsize - 512 * 1024 ** 2;
  expect(() => checkSpace(folder, bytes)).not.toThrow();
  expect(() => checkSpace(folder, bytes, folder)).toThrow(
    `${Math.ceil(bytes / 1024 ** 2) + 1024} MiB are needed (with 1024 MiB for Beckon`,
  );
});
