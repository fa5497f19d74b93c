import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { startProxy } from "../../../test/proxy.ts";
import { createLog } from "../log.ts";
import { connect } from "./connect.ts";
import { inWorkspace } from "./in-workspace.ts";

const { url, role } = await testDatabase();
const proxy = await startProxy(url);
const database = connect({
  // The parameter replaces the query timeout of 21 s, for which the test would have to wait.
  url: `${proxy.urlFor(url)}?query_timeout=2000`,
  poolSize: 4,
  role,
  log: createLog("silent"),
});
afterAll(async () => {
  await database.close();
  await proxy.close();
});

/**
 * Withholds all further responses from the connection that sends the next statement with `text`.
 * The connection stays open.
 */
const silence = (text: string) =>
  proxy.cutNext({ request: (bytes) => bytes.includes(text), pass: "stall" });

test("a connection that stopped answering is not used again", async () => {
  const read = () =>
    inWorkspace(database.tenant, "wsp_1", (tx) => tx.selectFrom("agents").select("id").execute());
  expect(await read()).toEqual([]);
  void silence("begin");
  await expect(read()).rejects.toMatchObject({ code: "unavailable" });
  expect(await read()).toEqual([]);

  const ask = () => sql<{ one: number }>`select 1 as one`.execute(database.accounts);
  expect((await ask()).rows).toEqual([{ one: 1 }]);
  void silence("as one");
  await expect(ask()).rejects.toThrow("Query read timeout");
  expect((await ask()).rows).toEqual([{ one: 1 }]);
});
