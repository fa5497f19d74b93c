import { expect, test } from "vitest";
import { type callerColumns, groupByCaller } from "./start-callers.ts";
import { runDetails, type StartRow } from "./start-row.ts";

const row: StartRow = {
  runId: "run_1",
  eventId: "evt_1",
  source: "trigger",
  caller: { kind: "credential", hash: Buffer.alloc(32, 1) },
  agentId: null,
  key: null,
  bodyHash: null,
  payload: "hello",
  contentType: "text/plain",
  body: "good",
  hasCapacity: true,
  owner: "prc_1",
};

const authenticated = {
  kind: "authenticated",
  principal: "key:key_1",
  workspaceId: "wsp_1",
} as const;

const received = {
  ...{ requestId: "req_1", eventId: null, eventIdDays: 1, eventType: null },
  ...{ holds: false, swallows: false, isFiltered: false, replayOf: null, address: null },
  ...{ contentEncoding: null, query: null, headers: "{}", body: Buffer.from("{}") },
};

/** For each column, two rows that differ only in it. */
const pairs: Record<keyof typeof callerColumns, readonly [Partial<StartRow>, Partial<StartRow>]> = {
  source: [{}, { source: "invoke" }],
  credential: [{}, { caller: { kind: "credential", hash: Buffer.alloc(32, 2) } }],
  agent: [{}, { agentId: "null" }],
  authenticated_as: [
    { caller: authenticated },
    { caller: { ...authenticated, principal: "key:key_2" } },
  ],
  workspace: [{ caller: authenticated }, { caller: { ...authenticated, workspaceId: "wsp_2" } }],
  content_type: [{}, { contentType: null }],
  body: [{}, { body: "bad" }],
  has_capacity: [{}, { hasCapacity: false }],
  owner: [{}, { owner: "prc_2" }],
  detailed: [{}, { details: runDetails({}) }],
  receiving_version: [{}, { receivingVersion: 1 }],
  holds: [{ received }, { received: { ...received, holds: true } }],
};

test.each(Object.entries(pairs))("requests that differ in %s have their own caller", (_, pair) => {
  const [one, other] = pair.map((change) => ({ ...row, ...change })) as [StartRow, StartRow];
  expect(groupByCaller([one, other, one])).toEqual({ callers: [one, other], callerOf: [1, 2, 1] });
});

test("credentials that are no text have their own callers", () => {
  const rows = [0xf0, 0xf1].map((byte) => {
    return { ...row, caller: { kind: "credential", hash: Buffer.alloc(32, byte) } } as const;
  });
  expect(groupByCaller(rows).callerOf).toEqual([1, 2]);
});

test("values of neighbouring columns do not run together", () => {
  const rows = [
    { principal: "a", workspaceId: "b c" },
    { principal: "a b", workspaceId: "c" },
    { principal: "b", workspaceId: "c a" },
  ].map((values) => ({ ...row, caller: { ...authenticated, ...values } }));
  expect(groupByCaller(rows).callerOf).toEqual([1, 2, 3]);
});

test("requests with other payloads, keys and ids share a caller", () => {
  const other = { ...row, runId: "run_2", eventId: "evt_2", payload: "other", key: "k" };
  expect(groupByCaller([row, other])).toEqual({ callers: [row], callerOf: [1, 1] });
});
