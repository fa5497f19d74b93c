import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { claimedDelivery } from "../../test/claimed-delivery.ts";
import { ByteBudget } from "../base/byte-budget.ts";
import { connect, type Database } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { createSecretCipher } from "../base/secrets/index.ts";
import type { TraceSpan } from "../base/tracing/index.ts";
import { type AttemptPorts, attemptDelivery } from "./attempt.ts";
import type { ClaimedDelivery } from "./claim-statement.ts";
import { CannotStart, readData } from "./read-data.ts";
import { encryptHeaders, encryptSigningSecret, newSigningSecret } from "./secrets.ts";

/** A database that cannot be reached. */
const database = connect({
  url: "postgresql://somebody@127.0.0.1:1/none",
  poolSize: 4,
  role: undefined,
  log: createLog("silent"),
});
afterAll(() => database.close());
const { signal } = new AbortController();
const memory = new ByteBudget({ maxBytes: 1_000_000 });
const fullMemory = new ByteBudget({ maxBytes: 1_000_000 });
fullMemory.paused = true;

const cipher = createSecretCipher(Buffer.alloc(32));
const { subscription_id: id, workspace_id, url } = claimedDelivery;
const delivery: ClaimedDelivery = {
  ...claimedDelivery,
  data: JSON.stringify({ artifact_id: "art_1", bytes: 100_000 }),
  data_bytes: 42,
  secret: encryptSigningSecret(cipher, { id, workspace_id, url }, newSigningSecret()),
};

const ports: AttemptPorts = {
  database,
  cipher,
  egress: { callForBeginning: async () => ({ status: 204, headers: {}, text: "" }) },
  memory,
  publicUrl: () => "https://beckon.example.com",
  schedule: [0, 5],
  timeoutMs: 10,
};

test.each([
  ["the database cannot return its data", memory, true],
  ["there is no memory for its data", fullMemory, false],
])("a delivery is released and not sent if %s", async (_, budget, isDatabaseLost) => {
  const sent: URL[] = [];
  const attempted = await attemptDelivery(
    {
      ...ports,
      egress: {
        callForBeginning: async (url) => {
          sent.push(url);
          return { status: 204, headers: {}, text: "" };
        },
      },
      memory: budget,
    },
    delivery,
    signal,
  );
  expect(sent).toEqual([]);
  expect(attempted).toMatchObject({
    outcome: { kind: "released", countsForHealth: false, attemptLog: undefined },
    isDatabaseLost,
  });
});

test("an attempt whose data cannot be read because of a bug sends nothing and rejects", async () => {
  const bug = Object.assign(new Error('column "data" does not exist'), { code: "42703" });
  const sent: URL[] = [];
  const ended: (string | undefined)[] = [];
  const span: TraceSpan = {
    traceparent: "",
    child: () => span,
    rename() {},
    set() {},
    end: (errorType) => ended.push(errorType),
  };
  const attempted = attemptDelivery(
    {
      ...ports,
      database: { engine: { query: () => Promise.reject(bug) } } as unknown as Database,
      egress: {
        callForBeginning: async (url) => {
          sent.push(url);
          return { status: 204, headers: {}, text: "" };
        },
      },
      tracing: { delivery: () => span },
    },
    { ...delivery, data: null, data_bytes: 60_000 },
    signal,
  );
  await expect(attempted).rejects.toBe(bug);
  expect({ sent, ended }).toEqual({ sent: [], ended: ["internal_error"] });
});

test("the time of an attempt begins after its data was read", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: 1_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  const query = async () => {
    vi.advanceTimersByTime(4_000);
    return { rows: [{ data: "{}" }] };
  };
  const { outcome } = await attemptDelivery(
    { ...ports, database: { engine: { query } } as unknown as Database },
    { ...delivery, data: null, data_bytes: 60_000 },
    signal,
  );
  expect(outcome.attemptLog).toMatchObject({
    startedAt: new Date(1_004_000),
    durationMs: 0,
    requestHeaders: { "webhook-timestamp": "1004" },
  });
});

test("large data is not read while there is no memory for it", async () => {
  const large = { ...delivery, data: null, data_bytes: 60_000 };
  const reading = readData(database, large, fullMemory.hold("wsp_1"), { signal, maxWaitMs: 1 });
  await expect(reading).rejects.toThrow(CannotStart);
});

/** Reads small data that the claim did not return. `rows`: what the database returns, in order. */
const readSmall = (budget: ByteBudget, ...rows: object[]) =>
  readData(
    { engine: { query: async () => ({ rows: rows.splice(0, 1) }) } } as unknown as Database,
    { ...delivery, data: null },
    budget.hold("wsp_1"),
    { signal, maxWaitMs: 1 },
  );

test("small data is read also while there is no memory for large data", async () => {
  expect(await readSmall(fullMemory, { data: '{"a":1}' })).toEqual({ data: { a: 1 } });
});

test("a small reference to an artifact is read together with the artifact", async () => {
  const artifact = { content: Buffer.from("{}") };
  expect(await readSmall(memory, { data: delivery.data }, artifact)).toEqual({
    data: { artifact_id: "art_1", bytes: 100_000 },
    content: "{}",
  });
});

test("a delivery with a header of 4,000 dashes succeeds, and the header is not logged", async () => {
  const dashes = "-".repeat(4_000);
  const headers = encryptHeaders(cipher, { id, workspace_id, url }, { "x-gateway": dashes });
  const response = { status: 200, headers: { "x-seen": dashes }, text: `You sent ${dashes}.` };
  const { outcome } = await attemptDelivery(
    { ...ports, egress: { callForBeginning: async () => response } },
    { ...delivery, data: "{}", data_bytes: 2, headers },
    signal,
  );
  expect(outcome).toMatchObject({
    kind: "succeeded",
    attemptLog: {
      status: 200,
      responseHeaders: { "x-seen": "[secret]" },
      responseBody: "You sent [secret].",
    },
  });
});
