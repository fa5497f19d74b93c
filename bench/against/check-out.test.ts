import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linkPackages } from "./check-out.ts";

test("packages are linked to the checkout, and workspace packages to the commit", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "beckon-link-")));
  try {
    const [from, to] = [join(folder, "checkout"), join(folder, "commit")];
    for (const root of [from, to]) {
      await mkdir(join(root, "contract"), { recursive: true });
      await writeFile(join(root, "contract", "version"), root);
    }
    await writeFile(join(from, "package.json"), JSON.stringify({ workspaces: ["contract"] }));
    for (const installed of [
      "node_modules/pg",
      "node_modules/@scope/one",
      "node_modules/.cache/node",
      "contract/node_modules/zod",
    ]) {
      await mkdir(join(from, installed), { recursive: true });
    }
    await mkdir(join(from, "node_modules/@beckon"));
    await symlink("../../contract", join(from, "node_modules/@beckon/contract"));

    await linkPackages(from, to);

    for (const linked of [
      "node_modules/pg",
      "node_modules/@scope/one",
      "contract/node_modules/zod",
    ]) {
      expect(await realpath(join(to, linked))).toBe(join(from, linked));
    }
    expect(await readFile(join(to, "node_modules/@beckon/contract/version"), "utf8")).toBe(to);
    await expect(realpath(join(to, "node_modules/.cache"))).rejects.toThrow("ENOENT");
  } finally {
    await rm(folder, { recursive: true });
  }
});
