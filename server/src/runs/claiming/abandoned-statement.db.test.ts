import { eventData, type NewEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { builtInPricer } from "../../../test/built-in-pricer.ts";
import { testDatabase } from "../../../test/database.ts";
import { appendRow, seedAgent, seedProcess, startOne } from "../../../test/tenant.ts";
import { appendToRuns } from "../../../test/write-runs.ts";
import { recordDeaths } from "../../processes/process-store.ts";
import { toEntry } from "../journal/journal-entry.ts";
import { readJournal } from "../journal/journal-store.ts";
import { readOutcome } from "../journal/result-store.ts";
import { countSuspects } from "./abandoned-statement.ts";
import { endExhausted } from "./end-exhausted.ts";

const { database } = await testDatabase();

const usage = { input_tokens: 100, output_tokens: 10, cached_input_tokens: 1 };
const step = (...callIds: string[]): NewEvent => {
  const parts = callIds.map((call_id) => ({
    type: "tool_call" as const,
    call_id,
    tool: "act",
    arguments: "{}",
  }));
  return {
    type: "run.step",
    data: {
      step: 1,
      model: "demo/echo",
      parts,
      finish_reason: "tool_calls",
      usage,
      duration_ms: 1,
      retries: 0,
    },
  };
};
const intent = (call_id: string): NewEvent => ({
  type: "run.tool_call",
  data: { step: 1, call_id, tool: "act", arguments: {}, idempotency_key: call_id },
});
const result = (call_id: string, value: unknown = "done"): NewEvent => ({
  type: "run.tool_result",
  data: { step: 1, call_id, tool: "act", outcome: "ok", result: value, duration_ms: 1 },
});

/**
 * Creates a run that has no attempt left and whose owner exited after writing `entries`. Ends the
 * run.
 * @returns the events that ending the run added, and the run's outcome.
 */
async function exhausted(...entries: NewEvent[]) {
  const owner = await seedProcess(database);
  const run = await startOne(database, await seedAgent(database, { limits: { max_attempts: 1 } }), {
    owner,
  });
  if (entries.length > 0)
    await appendToRuns(database, [appendRow(run, owner, { entries: entries.map(toEntry) })]);
  await recordDeaths(database.engine, [owner], "");
  await countSuspects(database);
  await endExhausted({ database, pricer: builtInPricer }, 10);
  const journal = await readJournal(database, run);
  for (const { type, data } of journal) eventData[type].parse(data);
  expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_, index) => index + 1));
  for (const { id } of journal) expect(id).toMatch(/^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(new Set(journal.map(({ id }) => id)).size).toBe(journal.length);
  return { added: journal.slice(1 + entries.length), outcome: await readOutcome(database, run) };
}

test("a model call in flight is recorded as lost, with estimated usage", async () => {
  const asked = await exhausted();
  expect(asked.added).toMatchObject([
    {
      type: "run.step_lost",
      data: {
        step: 1,
        model: "demo/echo",
        reason: "process_lost",
        usage: { input_tokens: 2, output_tokens: 0, estimated: true },
      },
    },
    {
      type: "run.failed",
      data: {
        error: { code: "interrupted" },
        usage: { input_tokens: 2, estimated: true },
        cost_micros: 0,
      },
    },
  ]);
  expect(asked.outcome).toMatchObject({
    status: "failed",
    error: { code: "interrupted" },
    usage: { input_tokens: 2, estimated: true },
  });

  const askedAgain = await exhausted(
    step("a", "b"),
    intent("a"),
    intent("b"),
    result("b"),
    result("a"),
  );
  expect(askedAgain.added).toMatchObject([
    { type: "run.step_lost", data: { step: 2, cost_micros: 0 } },
    // `step` writes an event without a cost, like the versions of Beckon that did not compute costs
    // yet. So the cost of the run is unknown.
    { type: "run.failed", data: { cost_micros: null } },
  ]);
  expect(askedAgain.outcome?.usage.input_tokens).toBeGreaterThan(150);
  expect(askedAgain.outcome?.usage).toMatchObject({ output_tokens: 10, cached_input_tokens: 1 });
});

test("tool calls that had begun get an unknown result", async () => {
  const { added, outcome } = await exhausted(
    step("a", "b", "c"),
    intent("a"),
    intent("b"),
    intent("c"),
    result("b"),
  );
  expect(
    added.map(({ type, data }) => [type, "call_id" in data ? data.call_id : undefined]),
  ).toEqual([
    ["run.tool_result", "a"],
    ["run.tool_result", "c"],
    ["run.failed", undefined],
  ]);
  expect(added[0]?.data).toMatchObject({ step: 1, tool: "act", outcome: "unknown" });
  expect(outcome?.usage).toEqual({ ...usage, estimated: true });
});

test("a tool result that is an artifact counts like any other", async () => {
  const { added } = await exhausted(step("a"), intent("a"), result("a", "x".repeat(100_000)));
  expect(added.map(({ type }) => type)).toEqual(["run.step_lost", "run.failed"]);
});
