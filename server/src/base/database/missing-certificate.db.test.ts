import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { createLog } from "../log.ts";
import { connect } from "./connect.ts";

const { url, role } = await testDatabase();

test("a query that waits for a connection fails while a certificate file is missing, and the process continues", async () => {
  const uncaught: Error[] = [];
  const note = (error: Error) => uncaught.push(error);
  process.on("uncaughtExceptionMonitor", note);
  onTestFinished(() => void process.off("uncaughtExceptionMonitor", note));
  const folder = mkdtempSync(join(tmpdir(), "beckon-certificate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "ca.pem");
  writeFileSync(file, "");
  const parameters = `sslmode=disable&sslrootcert=${encodeURIComponent(file)}`;
  const { engine, close } = connect({
    url: `${url}${url.includes("?") ? "&" : "?"}${parameters}`,
    poolSize: 4,
    role,
    log: createLog("silent"),
  });
  onTestFinished(close);
  const [first, second] = [await engine.connect(), await engine.connect()];
  const waiting = engine.query("select 1");
  rmSync(file);
  first.release(true);
  await expect(waiting).rejects.toMatchObject({ code: "ENOENT" });
  expect(uncaught).toEqual([]);
  await expect(engine.query("select 1")).rejects.toMatchObject({ code: "ENOENT" });
  writeFileSync(file, "");
  expect((await engine.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  second.release();
});
