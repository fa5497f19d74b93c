import type { NewEvent } from "@beckon/contract";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, memoryJournal, play, tool } from "../../test/engine-run.ts";
import { type Behaviour, says, startModelServer } from "../../test/model-server.ts";
import { RunStopped } from "./journal.ts";
import type { Tool } from "./tool.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

/**
 * The scripted model: two steps with tool calls, then the answer. It chooses its output by the
 * conversation in the request, so that a wrong conversation fails the test.
 */
const model: Behaviour = (request, index) => {
  const results = request.body.messages.filter(({ role }) => role === "tool").length;
  const outputs =
    results === 0
      ? {
          reasoning: "both first",
          calls: [1, 2].map((n) => ({
            id: `a${n}`,
            name: n === 1 ? "safe" : "unsafe",
            arguments: `{"n":${n}}`,
          })),
        }
      : results === 2
        ? { text: "one more", calls: [{ id: "b1", name: "safe", arguments: '{"n":3}' }] }
        : { text: `seen ${results} results` };
  return says(outputs)(request, index);
};

const executedCalls: string[] = [];
const noting: Tool["execute"] = async (args, { idempotencyKey }) => {
  executedCalls.push(idempotencyKey);
  return { seen: args };
};
const tools = [tool("safe", { run: noting }), tool("unsafe", { safeToRepeat: false, run: noting })];
beforeEach(() => {
  executedCalls.length = 0;
  server.script(model);
});

async function completeJournal(): Promise<readonly NewEvent[]> {
  const { journal } = await play(server.url, { tools });
  server.reset();
  server.script(model);
  executedCalls.length = 0;
  return journal.entries;
}

describe("a run that lost its process", () => {
  it("ends the same from each prefix of its journal, and never pays for an answered step again", async () => {
    const complete = await completeJournal();
    expect(complete.map(({ type }) => type)).toEqual([
      ...["run.step", "run.tool_call", "run.tool_call", "run.tool_result", "run.tool_result"],
      ...["run.step", "run.tool_call", "run.tool_result", "run.step"],
    ]);

    for (let length = 0; length <= complete.length; length += 1) {
      server.reset();
      server.script(model);
      executedCalls.length = 0;
      const prefix = complete.slice(0, length);
      const { journal, outcome } = await play(server.url, {
        tools,
        resumed: true,
        journal: memoryJournal({ initial: prefix }),
      });

      expect(outcome, `from ${length}`).toMatchObject({
        status: "succeeded",
        output: "seen 3 results",
      });
      const answered = prefix.filter(({ type }) => type === "run.step").length;
      expect(server.requests.length, `from ${length}`).toBe(3 - answered);
      expect(dataOf(journal, "run.step").map(({ step }) => step)).toEqual([1, 2, 3]);
      expect(dataOf(journal, "run.tool_result")).toHaveLength(3);
      expect(executedCalls).toEqual([...new Set(executedCalls)]);
    }
  });

  it("sends the model the same conversation, byte for byte, as a run that kept its process", async () => {
    await play(server.url, { tools });
    const undisturbed = server.requests.map(({ body }) => JSON.stringify(body));
    const complete = await completeJournal();

    // These prefixes of the journal end with the last tool result of the first step and of the
    // second step.
    for (const length of [5, 8]) {
      server.reset();
      server.script(model);
      await play(server.url, {
        tools,
        resumed: true,
        journal: memoryJournal({ initial: complete.slice(0, length) }),
      });
      expect(JSON.stringify(server.requests[0]?.body)).toBe(undisturbed[length === 5 ? 1 : 2]);
    }
  });

  it("records the call that was probably in flight, and counts its usage", async () => {
    const complete = await completeJournal();
    // The lengths of the prefixes of the journal in which all tool calls have results, so that the
    // model is called next.
    for (const [length, step] of [
      [0, 1],
      [5, 2],
      [8, 3],
    ] as const) {
      const { journal, outcome } = await play(server.url, {
        tools,
        resumed: true,
        journal: memoryJournal({ initial: complete.slice(0, length) }),
      });
      expect(dataOf(journal, "run.step_lost")).toMatchObject([
        { step, reason: "process_lost", usage: { estimated: true, output_tokens: 0 } },
      ]);
      expect(outcome?.usage.estimated).toBe(true);
      expect(outcome?.usage.input_tokens).toBeGreaterThan(30);
    }
  });

  it("counts the tools in the usage of that call, since they are sent with each call", async () => {
    const large = tool("safe", { description: "x".repeat(4_000), run: noting });
    const { journal } = await play(server.url, {
      tools: [large, ...tools.slice(1)],
      resumed: true,
    });
    const [lost] = dataOf(journal, "run.step_lost");
    expect(lost?.usage.input_tokens).toBeGreaterThanOrEqual(1_000);
  });

  it("records no lost call if tools were running, if it had answered, or if it is new", async () => {
    const complete = await completeJournal();
    // The lengths of the prefixes of the journal in which tool calls have no result, and the length
    // of the complete journal.
    for (const length of [3, 4, 7, 9]) {
      const { journal } = await play(server.url, {
        tools,
        resumed: true,
        journal: memoryJournal({ initial: complete.slice(0, length) }),
      });
      expect(dataOf(journal, "run.step_lost"), `from ${length}`).toEqual([]);
    }
    expect(dataOf((await play(server.url, { tools })).journal, "run.step_lost")).toEqual([]);
  });

  it("repeats an open call with the same key only if its tool is safe to repeat; otherwise its outcome is unknown", async () => {
    const complete = await completeJournal();
    const { journal } = await play(server.url, {
      tools,
      resumed: true,
      journal: memoryJournal({ initial: complete.slice(0, 3) }),
    });

    expect(executedCalls).toEqual(["run_1:a1", "run_1:b1"]);
    expect(dataOf(journal, "run.tool_call")).toHaveLength(3);
    expect(
      dataOf(journal, "run.tool_result").map(({ call_id, outcome }) => [call_id, outcome]),
    ).toEqual([
      ["a2", "unknown"],
      ["a1", "ok"],
      ["b1", "ok"],
    ]);
    const toolMessage = server.requests[0]?.body.messages.find(
      ({ tool_call_id }) => tool_call_id === "a2",
    );
    expect(toolMessage?.content).toMatch(/^The outcome of this call is unknown/);
  });

  it("executes the calls that waited while eight others ran, and only those are unknown", async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `c${n}`);
    const calls = ids.map((id) => ({ id, name: "unsafe", arguments: "{}" }));
    server.script([says({ calls }), says("done")]);
    const drain = new AbortController();
    let running = 0;
    const hanging = tool("unsafe", {
      safeToRepeat: false,
      run: () => {
        running += 1;
        if (running === 8) drain.abort(new RunStopped("drain"));
        return new Promise(() => {});
      },
    });
    const { journal } = await play(server.url, { tools: [hanging], signal: drain.signal });
    const initial = [...journal.entries];

    const resumed = await play(server.url, {
      tools,
      resumed: true,
      journal: memoryJournal({ initial }),
    });
    expect(resumed.outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(executedCalls).toEqual(ids.slice(8).map((id) => `run_1:${id}`));
    const outcomes = dataOf(resumed.journal, "run.tool_result").map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "unknown")).toHaveLength(8);
    expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(4);
  });

  it("treats an open call of a tool that is no longer granted as unknown", async () => {
    const complete = await completeJournal();
    const { journal } = await play(server.url, {
      tools: [],
      resumed: true,
      journal: memoryJournal({ initial: complete.slice(0, 3) }),
    });
    expect(
      dataOf(journal, "run.tool_result")
        .slice(0, 2)
        .map(({ outcome }) => outcome),
    ).toEqual(["unknown", "unknown"]);
    expect(executedCalls).toEqual([]);
  });

  it("is cancelled after failover without another call, with the lost one recorded", async () => {
    const complete = await completeJournal();
    const signal = AbortSignal.abort(new RunStopped("cancelled"));
    const { journal, outcome } = await play(server.url, {
      tools,
      signal,
      resumed: true,
      journal: memoryJournal({ initial: complete.slice(0, 5) }),
    });
    expect(outcome).toMatchObject({ status: "cancelled", usage: { estimated: true } });
    expect(journal.writes).toHaveLength(1);
    expect(dataOf(journal, "run.step_lost")).toHaveLength(1);
    expect(server.requests).toHaveLength(0);
  });

  it("counts its earlier steps towards max_steps", async () => {
    const complete = await completeJournal();
    const { outcome } = await play(server.url, {
      tools,
      maxSteps: 2,
      resumed: true,
      journal: memoryJournal({ initial: complete.slice(0, 5) }),
    });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "step_limit" } });
    expect(server.requests).toHaveLength(1);
  });
});
