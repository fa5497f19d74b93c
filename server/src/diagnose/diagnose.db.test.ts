import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedWorkspace } from "../../test/tenant.ts";
import { newId } from "../base/ids.ts";
import { checkMasterKey, createSecretCipher, parseMasterKey } from "../base/secrets/index.ts";
import { diagnose } from "./diagnose.ts";
import type { Finding } from "./finding.ts";

const { url, database } = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), "beckon-diagnose-"));
afterAll(() => rmSync(folder, { recursive: true }));

const newKey = () => randomBytes(32).toString("base64");
const masterKey = newKey();
beforeAll(async () => {
  await checkMasterKey(database.engine, createSecretCipher(parseMasterKey(masterKey)));
});

function findingsWith(env: Record<string, string>): Promise<readonly Finding[]> {
  return diagnose({
    DATABASE_URL: url,
    BECKON_TRUST_STORAGE: "1",
    BECKON_MASTER_KEY: masterKey,
    BECKON_DATA_DIR: folder,
    BECKON_DISCOVER: "0",
    PORT: "0",
    ...env,
  });
}

/** Returns the problems that `diagnose` finds, as one text each, with the start's exit code. */
async function problemsWith(env: Record<string, string>): Promise<(readonly [string, unknown])[]> {
  return (await findingsWith(env))
    .filter(({ status }) => status === "problem")
    .map(({ message, remedy, exitCode }) => [`${message} ${remedy}`, exitCode]);
}

test("with the database's master key there is no problem, also as the previous key or if lost", async () => {
  expect(await problemsWith({})).toEqual([]);
  const BECKON_MASTER_KEY = newKey();
  for (const more of [{ BECKON_MASTER_KEY_PREVIOUS: masterKey }, { BECKON_MASTER_KEY_LOST: "1" }])
    expect(await problemsWith({ BECKON_MASTER_KEY, ...more })).toEqual([]);
});

test("another master key is a problem, and is not stored", async () => {
  const check = "select master_key_check from installation";
  const before = (await database.engine.query(check)).rows;
  expect(await problemsWith({ BECKON_MASTER_KEY: newKey() })).toEqual([
    [expect.stringContaining("The master key is not the one"), 78],
  ]);
  expect((await database.engine.query(check)).rows).toEqual(before);
});

test("of PostgreSQL inside, another major version is a problem, and a missing master key a warning", async () => {
  const dataDir = join(folder, "inside");
  mkdirSync(join(dataDir, "postgres"), { recursive: true });
  const inside = (version: string, more: Record<string, string> = {}) => {
    writeFileSync(join(dataDir, "postgres/PG_VERSION"), `${version}\n`);
    const env = { DATABASE_URL: "", BECKON_MASTER_KEY: "", BECKON_DATA_DIR: dataDir, ...more };
    return findingsWith(env).then((found) => found.find(({ area }) => area === "database"));
  };
  expect(await inside("17")).toMatchObject({
    status: "problem",
    message: expect.stringContaining("was made by PostgreSQL 17; this Beckon contains PostgreSQL"),
    exitCode: 1,
  });
  expect(await inside("18")).toMatchObject({
    status: "warning",
    message: expect.stringContaining(`${join(dataDir, "master.key")} does not exist`),
  });
  for (const more of [{ BECKON_MASTER_KEY: masterKey }, { BECKON_MASTER_KEY_LOST: "1" }])
    expect(await inside("18", more)).toMatchObject({ status: "skipped" });
  expect(readdirSync(dataDir, { recursive: true })).toEqual(["postgres", "postgres/PG_VERSION"]);
  writeFileSync(join(dataDir, "master.key"), masterKey);
  expect(await inside("18")).toMatchObject({ status: "skipped" });
});

test("a read-only server is a problem, with the exit code of a start that waits", async () => {
  const options = encodeURIComponent("-c default_transaction_read_only=on");
  const DATABASE_URL = `${url}${url.includes("?") ? "&" : "?"}options=${options}`;
  expect(await problemsWith({ DATABASE_URL })).toEqual([
    [expect.stringMatching(/is read-only: .*Point DATABASE_URL at the primary/), 75],
  ]);
});

test("a plan of the file with the name of one in the database is a problem", async () => {
  const BECKON_PLANS = join(folder, "plans.json");
  writeFileSync(BECKON_PLANS, JSON.stringify({ plans: { small: {}, large: {} } }));
  expect(await problemsWith({ BECKON_PLANS })).toEqual([]);
  await database.engine.query(
    "insert into plans (id, workspace_id, name) values ($1, $2, 'large')",
    [newId("pln"), await seedWorkspace(database)],
  );
  expect(await problemsWith({ BECKON_PLANS })).toEqual([
    [expect.stringContaining("BECKON_PLANS defines the plan large"), 78],
  ]);
});

test("a memory budget above three quarters of a server's heap is a problem", async () => {
  const NODE_OPTIONS = "--max-old-space-size=400";
  expect(await problemsWith({ NODE_OPTIONS, BECKON_MEMORY_BUDGET_MIB: "300" })).toEqual([]);
  const [problem] = await problemsWith({ NODE_OPTIONS, BECKON_MEMORY_BUDGET_MIB: "400" });
  expect(problem).toEqual([
    expect.stringMatching(/BECKON_MEMORY_BUDGET_MIB was 400; .*at most 3/),
    78,
  ]);
});

test("a port for metrics that is in use, or is the port of the API, is a problem", async () => {
  const other = createServer((socket) => socket.destroy());
  onTestFinished(() => void other.close());
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const taken = String((other.address() as AddressInfo).port);
  const inUse = [[expect.stringMatching(/EADDRINUSE.*BECKON_METRICS_PORT/), 78]];
  expect(await problemsWith({ BECKON_METRICS_PORT: taken })).toEqual(inUse);
  expect(await problemsWith({ BECKON_METRICS_PORT: "0" })).toEqual([]);
  await new Promise((resolve) => other.close(resolve));
  const samePort = { PORT: taken, BECKON_METRICS_PORT: taken };
  expect(await problemsWith(samePort)).toEqual([
    [expect.stringContaining(`BECKON_METRICS_PORT and PORT are both ${taken};`), 78],
  ]);
  // 127.1 is a short form of 127.0.0.1.
  expect(await problemsWith({ ...samePort, HOST: "127.1" })).toEqual(inUse);
});

test("a PUBLIC_URL with a path is a warning, because the dashboard needs the root", async () => {
  const warningsAt = async (PUBLIC_URL: string) =>
    (await findingsWith({ PUBLIC_URL, BECKON_TRUST_PROXY: "1" })).filter(
      ({ status, message }) => status === "warning" && message.includes("PUBLIC_URL"),
    );
  expect(await warningsAt("https://example.com/")).toEqual([]);
  expect(await warningsAt("https://example.com/beckon/")).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(/has the path \/beckon, .*the dashboard/),
      remedy: expect.stringContaining("Set PUBLIC_URL without a path"),
    }),
  ]);
});

test("a Beckon on the port that is not ready is a warning, and no other program", async () => {
  const unready = createHttpServer((request, response) => {
    response.writeHead(request.url === "/readyz" ? 503 : 404).end('{"ok":false}');
  });
  onTestFinished(() => void unready.close());
  await new Promise<void>((resolve) => unready.listen(0, "127.0.0.1", resolve));
  const PORT = String((unready.address() as AddressInfo).port);
  const findings = await findingsWith({ PORT });
  expect(findings.filter(({ message }) => message.includes(PORT))).toEqual([
    {
      area: "configuration",
      status: "warning",
      message: `Beckon is running on 127.0.0.1:${PORT} and is not ready.`,
      remedy: expect.stringContaining("log"),
    },
  ]);
});

test("a provider without a list of models is a warning, since agents may be able to use it", async () => {
  const listless = createHttpServer((_request, response) => void response.writeHead(404).end());
  onTestFinished(() => void listless.close());
  await new Promise<void>((resolve) => listless.listen(0, "127.0.0.1", resolve));
  const ANTHROPIC_BASE_URL = `http://127.0.0.1:${(listless.address() as AddressInfo).port}/v1`;
  const findings = await findingsWith({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL });
  expect(findings.filter(({ area }) => area === "providers")).toEqual([
    {
      area: "providers",
      status: "warning",
      message: expect.stringContaining("does not list its models (404)"),
      remedy: "Check its base URL.",
    },
  ]);
});
