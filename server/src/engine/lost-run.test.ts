import type { NewEvent } from "@beckon/contract";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { memoryJournal, play, tool } from "../../test/engine-run.ts";
import { blackHole, says, startModelServer } from "../../test/model-server.ts";
import { openCalls } from "./history.ts";
import { RunStopped } from "./journal.ts";
import { digestOf, endByDigest, interrupt, lostCall } from "./lost-run.ts";
import { unknownPrice } from "./price.ts";

const server = await startModelServer();
afterAll(() => server.close());

const tools = [tool("safe"), tool("unsafe", { safeToRepeat: false })];

/**
 * Returns the journal of a run. Each number in `steps` is a step with this many tool calls. One
 * more step answers without a tool call.
 */
async function journalOf(steps: readonly number[]): Promise<readonly NewEvent[]> {
  server.reset();
  server.script((request, index) => {
    const answered = request.body.messages.filter(({ role }) => role === "assistant").length;
    const count = steps[answered];
    const calls = Array.from({ length: count ?? 0 }, (_, n) => ({
      id: `c${answered}_${n}`,
      name: n % 2 === 0 ? "safe" : "unsafe",
      arguments: "{}",
    }));
    return says(count === undefined ? { text: "done" } : { calls })(request, index);
  });
  return (await play(server.url, { tools })).journal.entries;
}

const released: NewEvent = { type: "run.queued", data: { calls_reported: true } };
const resumed: NewEvent = { type: "run.resumed", data: { attempt: 1 } };
const prompt = { model: "scripted/model", priceOf: unknownPrice, bytes: 100 };

const lostSteps = (entries: readonly NewEvent[]) =>
  entries.flatMap((entry) => (entry.type === "run.step_lost" ? [entry.data.step] : []));
const results = (entries: readonly NewEvent[]) =>
  entries.flatMap((entry) => (entry.type === "run.tool_result" ? [entry.data.call_id] : []));

test("a run that ends without being executed reports the same lost model call, and closes the same tool calls, as one that is stopped immediately", async () => {
  const steps = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(steps, async (counts) => {
      const fullJournal = await journalOf(counts);
      for (let length = 0; length <= fullJournal.length; length += 1) {
        const prefix = fullJournal.slice(0, length);
        const stopped = AbortSignal.abort(new RunStopped("deadline"));
        const { journal } = await play(server.url, {
          tools,
          resumed: true,
          signal: stopped,
          journal: memoryJournal({ initial: prefix }),
        });
        const executed = journal.entries.slice(length);
        const { added, outcome } = interrupt(digestOf(prefix), prompt);
        const open = openCalls(prefix).map(({ call_id }) => call_id);
        expect(lostSteps(added), `from ${length}`).toEqual(lostSteps(executed));
        expect(results(added)).toEqual(open);
        expect(results(executed)).toEqual(expect.arrayContaining(open));
        expect(outcome).toMatchObject({
          status: "failed",
          error: { code: "interrupted" },
          usage: { estimated: true },
        });
      }
    }),
    { numRuns: 15 },
  );
});

test("a model call that the release of its run reports is not estimated again, unless the next owner is lost too", async () => {
  server.reset();
  const controller = new AbortController();
  server.script((request, index) => {
    controller.abort(new RunStopped("drain"));
    return blackHole(request, index);
  });
  const aborted = await play(server.url, { signal: controller.signal });
  expect(aborted.journal.writes).toEqual([]);
  const [reported] = aborted.released?.calls ?? [];
  expect(reported).toMatchObject({ step: 1, outcome: "lost", usage: { estimated: true } });

  const lost = aborted.released?.event;
  if (lost === undefined) throw new Error("no event was returned");
  const claimed: NewEvent[] = [lost, released, resumed];
  server.script(says("done"));
  const { journal } = await play(server.url, {
    resumed: true,
    journal: memoryJournal({ initial: claimed }),
  });
  expect(journal.entries.slice(claimed.length).map(({ type }) => type)).toEqual(["run.step"]);
  expect(journal.outcome?.usage.input_tokens).toBe(10 + (reported?.usage.input_tokens ?? 0));

  const error = { code: "cancelled" as const, message: "" };
  const digest = digestOf(claimed);
  expect(endByDigest(digest, { status: "cancelled", error }, prompt).added).toEqual([]);
  expect(lostSteps(interrupt(digest, prompt).added)).toEqual([1]);
});

test("no model call is estimated after releases of processes that sent none", () => {
  const started: NewEvent = { type: "run.started", data: {} };
  const queued: NewEvent = { type: "run.queued", data: {} };
  const isEstimated = (...last: readonly NewEvent[]) =>
    lostCall(digestOf([started, ...last]), prompt) !== undefined;
  expect(isEstimated(released, resumed)).toBe(false);
  expect(isEstimated(released, resumed, released, resumed)).toBe(false);
  // Processes of earlier versions did not report the calls that they aborted.
  expect(isEstimated(queued, resumed)).toBe(true);
  // The first process was lost and may have sent a call. The next process released the run and did
  // not report that call.
  expect(isEstimated(resumed, released, resumed)).toBe(true);
  expect(isEstimated(released, resumed, resumed, released, resumed)).toBe(true);
});

test("a stop reports an answer that could not be written any more", async () => {
  server.reset();
  server.script(says({ calls: [{ id: "call_1", name: "echo", arguments: "{}" }] }));
  const controller = new AbortController();
  const journal = memoryJournal({
    gate: () => {
      controller.abort(new RunStopped("drain"));
      throw new Error("the database does not respond");
    },
  });
  const tools = [tool("echo")];
  const { released: reported } = await play(server.url, {
    journal,
    tools,
    signal: controller.signal,
  });
  expect(journal.entries).toEqual([]);
  expect(reported).toMatchObject({
    event: { type: "run.step_lost", data: { step: 1 } },
    calls: [{ outcome: "answered" }],
  });
});

test("a stop reports the estimate for the lost process that could not be written any more", async () => {
  server.reset();
  const { journal, released: reported } = await play(server.url, {
    resumed: true,
    signal: AbortSignal.abort(new RunStopped("drain")),
  });
  expect(journal.entries).toEqual([]);
  expect(reported?.calls).toMatchObject([{ step: 1, outcome: "lost" }]);
});
