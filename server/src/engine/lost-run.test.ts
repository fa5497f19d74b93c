import type { NewEvent } from "@beckon/contract";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { memoryJournal, play, tool } from "../../test/engine-run.ts";
import { says, startModelServer } from "../../test/model-server.ts";
import { openCalls } from "./history.ts";
import { RunStopped } from "./journal.ts";
import { digestOf, interrupt } from "./lost-run.ts";
import { unknownPrice } from "./price.ts";

const server = await startModelServer();
afterAll(() => server.close());

const tools = [tool("safe"), tool("unsafe", { safeToRepeat: false })];

/** A journal of a run whose steps call the given number of tools each, then answer. */
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
        const { added, outcome } = interrupt(digestOf(prefix), {
          model: "scripted/model",
          priceOf: unknownPrice,
          bytes: 100,
        });
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
