import { expect, test } from "vitest";
import { settings } from "./settings.ts";

const gib = 1024 ** 3;

test.each([
  ["a small disk", 10 * gib, "4096MB"],
  ["a large disk", 1_024 * gib, "131072MB"],
  ["a network file system of 8 EiB", 8 * gib ** 2, "2147483647MB"],
])("the WAL that a backup keeps fits %s and PostgreSQL's limit", (_, diskBytes, expected) => {
  expect(
    settings({ socketDir: "/run/beckon", connections: 100, tcpPort: undefined, diskBytes }),
  ).toMatchObject({ max_slot_wal_keep_size: expected });
});
