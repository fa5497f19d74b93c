import type { NewEvent } from "@beckon/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { builtInPricer } from "../../../test/built-in-pricer.ts";
import { testDatabase } from "../../../test/database.ts";
import { appendRow, seedAgent, seedProcess, startOne } from "../../../test/tenant.ts";
import { appendToRuns } from "../../../test/write-runs.ts";
import { digestOf } from "../../engine/lost-run.ts";
import { recordDeaths } from "../../processes/process-store.ts";
import { countSuspects } from "../claiming/abandoned-statement.ts";
import { endExhausted } from "../claiming/end-exhausted.ts";
import { readDigest } from "./digest-store.ts";
import { type AppendEntry, toEntry } from "./journal-entry.ts";
import { readOutcome } from "./result-store.ts";

const { database } = await testDatabase();
const owner = await seedProcess(database);
const agent = await seedAgent(database, { limits: { max_attempts: 1 } });

const usage = fc.record({
  input_tokens: fc.nat(1_000),
  output_tokens: fc.nat(1_000),
  cached_input_tokens: fc.nat(1_000),
});
/** A short text, and one above 64 KiB, which is stored as an artifact. */
const text = fc.constantFrom("short", "x".repeat(100_000));

/**
 * A model call with `calls` tool calls. In the last step, only the first `begun` of them began, and
 * of these only those with an index in `results` have a result. `lost`: a `run.step_lost` precedes
 * the step.
 */
const step = fc.record({
  usage,
  text,
  calls: fc.nat(3),
  begun: fc.nat(3),
  results: fc.array(fc.nat(2), { maxLength: 3 }),
  lost: fc.boolean(),
});

function entriesOf(
  steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[],
): NewEvent[] {
  return steps.flatMap(({ usage, text, calls, begun, results, lost }, index) => {
    const number = index + 1;
    const isLast = number === steps.length;
    const ids = Array.from({ length: calls }, (_, n) => `call_${number}_${n}`);
    const parts = [
      { type: "text" as const, text },
      ...ids.map((call_id) => ({
        type: "tool_call" as const,
        call_id,
        tool: "act",
        arguments: "{}",
      })),
    ];
    const data = {
      step: number,
      model: "demo/echo",
      parts,
      finish_reason: "tool_calls" as const,
      usage,
      duration_ms: 1,
      retries: 0,
    };
    // Only the last step can have calls without results: the next model call waits for all results.
    const started = isLast ? ids.slice(0, begun) : ids;
    const answered = isLast ? started.filter((_, n) => results.includes(n)) : ids;
    return [
      ...(lost
        ? [
            {
              type: "run.step_lost" as const,
              data: { step: number, model: "demo/echo", usage, reason: "process_lost" as const },
            },
          ]
        : []),
      { type: "run.step", data },
      ...started.map(
        (call_id): NewEvent => ({
          type: "run.tool_call",
          data: {
            step: number,
            call_id,
            tool: "act",
            arguments: { text },
            idempotency_key: call_id,
          },
        }),
      ),
      ...answered.map(
        (call_id): NewEvent => ({
          type: "run.tool_result",
          data: { step: number, call_id, tool: "act", outcome: "ok", result: text, duration_ms: 1 },
        }),
      ),
    ];
  });
}

const noTokens = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
const lost: NewEvent = {
  type: "run.step_lost",
  data: { step: 9, model: "demo/echo", usage: noTokens, reason: "process_lost" },
};
const queued: NewEvent = { type: "run.queued", data: {} };
const released: NewEvent = { type: "run.queued", data: { calls_reported: true } };
const resumed: NewEvent = { type: "run.resumed", data: { attempt: 1 } };

/** Last events of a journal whose run was released or taken over. */
const lastEvents = fc.constantFrom<readonly NewEvent[]>(
  [],
  [queued, resumed],
  [released],
  [released, resumed],
  [lost, released, resumed],
  [released, resumed, released, resumed],
  [released, resumed, resumed],
  [resumed, released, resumed],
  [queued, resumed, released, resumed],
  [released, resumed, lost],
);

/** Returns the entry for an event as earlier versions wrote it: large data had no other fields. */
function toOldEntry(event: NewEvent): AppendEntry {
  const entry = toEntry(event);
  if (entry.artifact === undefined) return entry;
  const { artifact_id, bytes } = JSON.parse(entry.data);
  return { ...entry, data: JSON.stringify({ artifact_id, bytes }) };
}

test("a digest from the database equals the digest of the same journal in memory", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 4 }),
      lastEvents,
      fc.constantFrom(toEntry, toOldEntry),
      async (steps, last, toRow) => {
        const run = await startOne(database, agent, { owner });
        const events = [...entriesOf(steps), ...last];
        const entries = events.map(toRow);
        if (entries.length > 0) await appendToRuns(database, [appendRow(run, owner, { entries })]);
        expect((await readDigest(database, run.runId)).digest).toEqual(digestOf(events));
      },
    ),
    { numRuns: 60 },
  );
});

test("the size of the prompt includes the descriptions of the agent's tools", async () => {
  const bytesWith = async (tools: readonly object[]) => {
    const run = await startOne(database, await seedAgent(database, { tools }), { owner });
    return (await readDigest(database, run.runId)).prompt.bytes;
  };
  const operation = { name: "read", method: "GET", url: "https://api.example.com/" };
  const shop = {
    type: "http",
    name: "shop",
    allowed_hosts: ["api.example.com"],
    operations: [{ ...operation, description: "x".repeat(4_000) }],
  };
  expect(await bytesWith([])).toBeLessThan(1_000);
  expect(await bytesWith([shop])).toBeGreaterThanOrEqual(4_000);
});

/** Adds five steps of 1 MiB each to a run's journal, directly in the database. */
async function addSteps(
  { runId, workspaceId }: { runId: string; workspaceId: string },
  firstSeq: number,
): Promise<void> {
  await database.engine.query(
    `with added as (
        insert into events (run_id, seq, workspace_id, id, type, version, data)
        select $1, n, $2, 'evt_' || $1 || n, 'run.step', 1, jsonb_build_object('step', n, 'text', $4::text)
        from generate_series($3::int, $3::int + 4) n
      ) update runs set last_seq = $3::int + 4 where id = $1`,
    [runId, workspaceId, firstSeq, "x".repeat(1024 * 1024)],
  );
}

test("a run with a journal of 200 MB is ended without loading the journal", async () => {
  const dying = await seedProcess(database);
  const run = await startOne(database, agent, { owner: dying });
  // Uses many small transactions. Readers of events get no events that are newer than the oldest
  // open transaction of the whole PostgreSQL server, so a long transaction would delay other tests.
  for (let part = 0; part < 40; part += 1) await addSteps(run, part * 5 + 2);
  await recordDeaths(database.engine, [dying], "");
  await countSuspects(database);
  const before = process.memoryUsage();
  await endExhausted({ database, pricer: builtInPricer }, 10);
  const after = process.memoryUsage();
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(
    20 * 1024 * 1024,
  );
  expect(await readOutcome(database, run)).toMatchObject({
    status: "failed",
    error: { code: "interrupted" },
  });
});
