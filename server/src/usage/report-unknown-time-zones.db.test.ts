import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedWorkspace } from "../../test/tenant.ts";
import { createLog } from "../base/log.ts";
import { reportUnknownTimeZones } from "./report-unknown-time-zones.ts";

const { database } = await testDatabase();

test("the log names workspaces whose time zone PostgreSQL does not know, and no others", async () => {
  const workspaceIds: string[] = [];
  for (const zone of ["UTC", "europe/zurich", "Asia/Nowhere", "Asia/Nowhere"]) {
    const id = await seedWorkspace(database);
    await database.engine.query("update workspaces set time_zone = $2 where id = $1", [id, zone]);
    if (zone === "Asia/Nowhere") workspaceIds.push(id);
  }
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  await reportUnknownTimeZones(database.engine, createLog("info", { output }));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: "error",
      time_zone: "Asia/Nowhere",
      workspaces: 2,
      workspace_ids: workspaceIds.sort(),
    }),
  ]);
});
