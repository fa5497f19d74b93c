import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, play, tool } from "../../test/engine-run.ts";
import { says, startModelServer } from "../../test/model-server.ts";
import { RunStopped, type StopReason } from "./journal.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  server.script([says({ calls: [{ id: "c1", name: "act", arguments: "{}" }] }), says("done")]);
});

/**
 * Executes a run that calls a model, a tool and the model again. Before call number `doubtful`,
 * counted from 1, it is uncertain whether this process owns the run, until the test calls `confirm`
 * or stops the run.
 */
function playUntil(doubtful: number) {
  const made: string[] = [];
  const controller = new AbortController();
  const asked = Promise.withResolvers<void>();
  const confirmed = Promise.withResolvers<void>();
  let checks = 0;
  const confirmOwner = () => {
    checks += 1;
    if (checks !== doubtful) return undefined;
    asked.resolve();
    return confirmed.promise;
  };
  const act = tool("act", { safeToRepeat: false, run: async () => made.push("tool") });
  const played = play(server.url, { tools: [act], signal: controller.signal, confirmOwner });
  return {
    played,
    asked: asked.promise,
    confirm: confirmed.resolve,
    stop(reason: StopReason) {
      controller.abort(new RunStopped(reason));
      confirmed.reject(controller.signal.reason);
    },
    calls: () => ({ model: server.requests.length, tool: made.length }),
  };
}

const cases = [
  { doubtful: 1, before: "the first model call", calls: { model: 0, tool: 0 } },
  { doubtful: 2, before: "a tool call", calls: { model: 1, tool: 0 } },
  { doubtful: 3, before: "a later model call", calls: { model: 1, tool: 1 } },
];

describe.each(cases)("while the owner of a run is uncertain before $before", (each) => {
  it("waits, and continues once it is certain", async () => {
    const run = playUntil(each.doubtful);
    await run.asked;
    await new Promise((resolve) => setImmediate(resolve));
    expect(run.calls()).toEqual(each.calls);
    run.confirm();
    expect((await run.played).outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(run.calls()).toEqual({ model: 2, tool: 1 });
  });

  it("makes no call and writes nothing if another process owns the run", async () => {
    const run = playUntil(each.doubtful);
    await run.asked;
    run.stop("fenced");
    const { journal, outcome, released } = await run.played;
    expect([outcome, released]).toEqual([undefined, undefined]);
    expect(run.calls()).toEqual(each.calls);
    expect(journal.writes).toHaveLength(each.doubtful - 1);
  });

  it("records no call as made that was not made if the run is cancelled", async () => {
    const run = playUntil(each.doubtful);
    await run.asked;
    run.stop("cancelled");
    const { journal, outcome } = await run.played;
    expect(outcome).toMatchObject({ status: "cancelled" });
    expect(run.calls()).toEqual(each.calls);
    expect(dataOf(journal, "run.step_lost")).toEqual([]);
    expect(dataOf(journal, "run.tool_result").map((result) => result.outcome)).toEqual(
      [[], ["refused"], ["ok"]][each.doubtful - 1],
    );
  });
});
