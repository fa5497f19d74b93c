import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { eventually } from "../../../test/eventually.ts";
import { type NetworkCondition, startProxy } from "../../../test/proxy.ts";
import { createLog } from "../log.ts";
import { connect } from "./connect.ts";
import { openProcessMessages, type ProcessMessage } from "./process-messages.ts";

const { database, url, role } = await testDatabase();
const log = createLog("silent");
const proxy = await startProxy(url);
afterAll(() => proxy.close());
const far = connect({ url: proxy.urlFor(url), poolSize: 4, role, log });
afterAll(() => far.close());

test.each<NetworkCondition>([
  { type: "blackHole" },
  { type: "mute" },
  { type: "closed" },
  { type: "fair" },
])("process messages can be closed while they connect ($type)", async (weather) => {
  proxy.weather = weather;
  const processMessages = openProcessMessages(far, log);
  if (weather.type !== "closed")
    await eventually("a connection", () => proxy.connections > 0 || undefined);
  await processMessages.close();
  proxy.weather = { type: "fair" };
  proxy.drop();
  await eventually("no connection", () => proxy.connections === 0 || undefined);
  expect(processMessages.alone).toBe(true);
});

test.each([
  ["process messages whose notification failed are sent again", 300, 300],
  ["of more than 1,000 such messages, receivers only learn that messages were lost", 1_001, 0],
])("%s", async (_what, count, sentAgain) => {
  const received: (ProcessMessage | undefined)[] = [];
  const receiver = openProcessMessages(database, log);
  receiver.onMessage((message) => received.push(message));
  await eventually("the receiver to listen", () => received.length > 0 || undefined);
  received.length = 0;

  proxy.weather = { type: "closed" };
  proxy.drop();
  const sender = openProcessMessages(far, log);
  onTestFinished(async () => {
    proxy.weather = { type: "fair" };
    await Promise.all([sender.close(), receiver.close()]);
  });
  sender.setAlone(false);
  const queries = vi.spyOn(far.engine, "query");
  onTestFinished(() => queries.mockRestore());
  const messages = Array.from(
    { length: count },
    (_, index): ProcessMessage => ({ kind: "limits", workspaceId: `wsp_${index}` }),
  );
  for (const message of messages) sender.send(message);
  await eventually("a failed notification", () =>
    queries.mock.settledResults.some(({ type }) => type === "rejected") ? true : undefined,
  );
  proxy.weather = { type: "fair" };
  const expected = sentAgain === 0 ? [undefined] : messages;
  await eventually("the messages", () => received.length === expected.length || undefined);
  expect(new Set(received)).toEqual(new Set(expected));
});

test("a connection that leads to another cluster than before it was lost is reported", async () => {
  onTestFinished(() => {
    proxy.rewrite = undefined;
  });
  const open = async () => {
    const processMessages = openProcessMessages(far, log);
    onTestFinished(() => processMessages.close());
    const calls: string[] = [];
    processMessages.onMessage(() => calls.push("listening"));
    processMessages.onOtherCluster(() => calls.push("other cluster"));
    await eventually("the connection", () => calls.length > 0 || undefined);
    return calls;
  };
  const { rows } = await database.engine.query<{ id: string }>(
    "select system_identifier::text as id from pg_control_system()",
  );
  const id = rows[0]?.id ?? "";
  const moved = await open();
  proxy.rewrite = (bytes) =>
    Buffer.from(bytes.toString("latin1").replace(id, "1".repeat(id.length)), "latin1");
  const stayed = await open();
  proxy.drop();
  await eventually("both connections", () => moved.length + stayed.length > 4 || undefined);
  expect(moved).toEqual(["listening", "other cluster", "listening"]);
  expect(stayed).toEqual(["listening", "listening"]);
});

test("process messages are received again once a missing certificate file is back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "beckon-certificate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "ca.pem");
  const parameters = `sslmode=disable&sslrootcert=${encodeURIComponent(file)}`;
  const database = connect({
    url: `${url}${url.includes("?") ? "&" : "?"}${parameters}`,
    poolSize: 4,
    role,
    log,
  });
  onTestFinished(() => database.close());
  const processMessages = openProcessMessages(database, log);
  onTestFinished(() => processMessages.close());
  const listening = new Promise((resolve) => processMessages.onMessage(resolve));
  writeFileSync(file, "");
  expect(await listening).toBeUndefined();
});
