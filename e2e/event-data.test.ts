import { createClient, type JournalEvent } from "@beckon/client";
import { readEventData } from "@beckon/contract";
import { expect, test } from "vitest";
import { longInput } from "../server/test/artifact-of.ts";
import { startTestBeckon } from "../server/test/beckon.ts";
import { eventually } from "../server/test/eventually.ts";
import { startHeldModel } from "../server/test/held-model.ts";

/** Tests that the events of runs have the data from which the client's types are generated. */

const server = await startTestBeckon();
const beckon = createClient({ url: server.url, key: server.key });
const clock = { tools: [{ type: "clock" }] };

async function runToEnd(input: string, config: Record<string, unknown> = {}): Promise<string> {
  const agent = await server.createAgent(config);
  const { run_id } = await beckon.agents.start(agent.id, { input });
  await ended(run_id);
  return run_id;
}

const ended = (runId: string) =>
  eventually(
    "the end of the run",
    async () => (await beckon.runs.get(runId)).finished_at ?? undefined,
  );

/** Runs that are queued, call tools, store artifacts, succeed, fail and are cancelled. */
async function allRuns(): Promise<readonly string[]> {
  const held = await startHeldModel(server);
  const agent = await server.createAgent({
    model: held.model,
    limits: { max_concurrent_runs: 1 },
  });
  const first = await beckon.agents.start(agent.id, { input: "Hello" });
  const queued = await beckon.agents.start(agent.id, { input: "Hello" });
  await eventually("the model call", () => held.requests.length > 0 || undefined);
  await beckon.runs.cancel(first.run_id);
  await ended(first.run_id);
  held.release();
  await ended(queued.run_id);
  return [
    first.run_id,
    queued.run_id,
    await runToEnd("/call clock {}", clock),
    await runToEnd("/call clock {}", { ...clock, limits: { max_steps: 1 } }),
    await runToEnd(longInput),
    await runToEnd(`/call clock {"time_zone":"${longInput}"}`, clock),
  ];
}

test("each event of a run has the data of its type, in full and as a summary", async () => {
  const runs = await allRuns();
  const seen = new Set<JournalEvent["type"]>();
  for (const view of ["full", "summary"] as const) {
    for (const runId of runs) {
      for await (const { type, data } of beckon.runs.listEvents(runId, { view })) {
        seen.add(type);
        const { error } = readEventData[type].strict().safeParse(data);
        expect(error, `${type} of ${view}: ${JSON.stringify(data).slice(0, 300)}`).toBeUndefined();
      }
    }
  }
  expect([...seen].sort()).toEqual([
    "run.cancelled",
    "run.failed",
    "run.finished",
    "run.queued",
    "run.started",
    "run.step",
    "run.step_lost",
    "run.tool_call",
    "run.tool_result",
  ]);
});
