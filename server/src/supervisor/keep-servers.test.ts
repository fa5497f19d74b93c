import { expect, test } from "vitest";
import { heapFlags } from "./keep-servers.ts";

const gib = 1024 ** 3;

test("servers share half of the memory, each at most 4 GiB and at least 256 MiB", () => {
  expect(heapFlags(1, "", 4 * gib)).toEqual(["--max-old-space-size=2048"]);
  expect(heapFlags(4, "", 4 * gib)).toEqual(["--max-old-space-size=512"]);
  expect(heapFlags(1, "", 64 * gib)).toEqual(["--max-old-space-size=4096"]);
  expect(heapFlags(8, "", 2 * gib)).toEqual(["--max-old-space-size=256"]);
});

test("a limit that the operator set is kept", () => {
  expect(heapFlags(1, "--max-old-space-size=700", 4 * gib)).toEqual([]);
  expect(heapFlags(1, "--max_old_space_size=700", 4 * gib)).toEqual([]);
});
