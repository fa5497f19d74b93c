import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/fixtures/supervisor.ts";
import { restoreLinks } from "./restore-links.ts";

function packageFolder(): string {
  const native = join(temporaryFolder(), "native");
  mkdirSync(join(native, "lib"), { recursive: true });
  writeFileSync(join(native, "lib/liba.so.1.2"), "library");
  const names = ["liba.so", "liba.so.1"];
  writeFileSync(
    join(native, "pg-symlinks.json"),
    JSON.stringify(
      names.map((name) => ({ source: "native/lib/liba.so.1.2", target: `native/lib/${name}` })),
    ),
  );
  return native;
}

test("missing links are created and dangling ones replaced, also by concurrent calls", async () => {
  const native = packageFolder();
  symlinkSync("gone", join(native, "lib/liba.so"));
  await Promise.all(Array.from({ length: 8 }, () => restoreLinks(native)));
  await restoreLinks(native);
  expect(readdirSync(join(native, "lib")).sort()).toEqual(["liba.so", "liba.so.1", "liba.so.1.2"]);
  for (const name of ["liba.so", "liba.so.1"])
    expect(readFileSync(join(native, "lib", name), "utf8")).toBe("library");
});

test("a package without a list of links is not changed", async () => {
  await expect(restoreLinks(temporaryFolder())).resolves.toBeUndefined();
});
