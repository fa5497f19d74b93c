import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { callsIn, dataOf, memoryJournal, play, tool } from "../../test/engine-run.ts";
import {
  blackHole,
  held,
  says,
  startModelServer,
  status,
  withDelivery,
} from "../../test/model-server.ts";
import { RunStopped, type StopReason } from "./journal.ts";
import { defaultTimeouts } from "./timeouts.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const calling = says({ text: "one moment", calls: [{ id: "c1", name: "act", arguments: "{}" }] });

/** Returns a signal that aborts once `ready` returns true. */
function stopWhen(reason: StopReason, ready: () => boolean): AbortSignal {
  const controller = new AbortController();
  const timer = setInterval(() => {
    if (!ready()) return;
    clearInterval(timer);
    controller.abort(new RunStopped(reason));
  }, 2);
  return controller.signal;
}

/**
 * Plays a run that is stopped while it waits for its second attempt. The wait would take longer
 * than a test can.
 */
function stopInWait(reason: StopReason) {
  server.script(status(429, { headers: { "retry-after": "500" } }));
  const controller = new AbortController();
  return play(server.url, {
    signal: controller.signal,
    timeouts: defaultTimeouts,
    onDelta: ({ type }) => {
      if (type === "step_end") setImmediate(() => controller.abort(new RunStopped(reason)));
    },
  });
}

describe.each([
  ["cancelled", "cancelled", "cancelled", "cancelled"],
  ["deadline", "failed", "deadline_exceeded", "deadline_exceeded"],
] as const)("a run stopped as %s", (reason, status_, code, lost) => {
  it.each(["never", "always"] as const)(
    "aborts its model call at once and records an estimate of its usage (streamed: %s)",
    async (stream) => {
      server.script(
        withDelivery(
          { type: "stall", after: 250 },
          says("some words that are heard before the silence begins"),
        ),
      );
      const { journal, outcome } = await play(server.url, {
        settings: { stream },
        signal: stopWhen(reason, () => server.requests.length === 1),
      });

      expect(outcome).toMatchObject({
        status: status_,
        error: { code },
        usage: { estimated: true },
      });
      expect(outcome?.usage.input_tokens).toBeGreaterThan(0);
      expect(journal.writes).toHaveLength(1);
      expect(dataOf(journal, "run.step_lost")).toMatchObject([
        { step: 1, reason: lost, usage: { estimated: true } },
      ]);
      expect(server.requests).toHaveLength(1);
    },
  );

  it("does not wait for a tool that ignores its signal, and closes its call as unknown", async () => {
    server.script([calling]);
    let isStarted = false;
    const act = tool("act", {
      run: () => {
        isStarted = true;
        return new Promise(() => undefined);
      },
    });
    const { journal, outcome } = await play(server.url, {
      tools: [act],
      signal: stopWhen(reason, () => isStarted),
    });

    expect(outcome).toMatchObject({
      status: status_,
      error: { code },
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    expect(dataOf(journal, "run.tool_result")).toMatchObject([
      { call_id: "c1", outcome: "unknown" },
    ]);
    expect(server.requests).toHaveLength(1);
  });

  it("makes none of the calls that are checked when it is stopped", async () => {
    server.script([calling]);
    const controller = new AbortController();
    const check = () => void controller.abort(new RunStopped(reason));
    const { journal, outcome } = await play(server.url, {
      tools: [tool("act", { check })],
      signal: controller.signal,
    });

    expect(outcome).toMatchObject({ status: status_, error: { code } });
    expect(journal.entries.map(({ type }) => type)).toEqual(["run.step"]);
  });

  it("ends even if its next write fails with an unexpected error", async () => {
    server.script([calling]);
    const controller = new AbortController();
    const journal = memoryJournal({
      gate: (_, { end }) => {
        if (end) return;
        controller.abort(new RunStopped(reason));
        throw new Error("the disk is full");
      },
    });
    const { outcome } = await play(server.url, {
      tools: [tool("act")],
      signal: controller.signal,
      journal,
    });

    expect(outcome).toMatchObject({ status: status_, error: { code } });
  });

  it("starts nothing if it is stopped before it begins", async () => {
    const { journal, outcome } = await play(server.url, {
      signal: AbortSignal.abort(new RunStopped(reason)),
    });
    expect(outcome).toMatchObject({ status: status_, error: { code }, usage: { input_tokens: 0 } });
    expect(journal.entries).toEqual([]);
    expect(server.requests).toHaveLength(0);
  });

  it("ends the wait between two attempts at once, and counts no call for it", async () => {
    const { journal, outcome } = await stopInWait(reason);
    expect(outcome).toMatchObject({ status: status_, error: { code } });
    expect(callsIn(journal).map((call) => call.outcome)).toEqual(["failed"]);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a run that is to be cancelled", () => {
  it("is cancelled when its intents are rejected: no tool is called, and the step that was paid for stays in the journal", async () => {
    server.script([calling]);
    let started = 0;
    const journal = memoryJournal({
      gate: (_entries, { unlessCancelled }) => {
        if (unlessCancelled) throw new RunStopped("cancelled");
      },
    });
    const { outcome } = await play(server.url, {
      tools: [tool("act", { run: async () => (started += 1) })],
      journal,
    });

    expect(started).toBe(0);
    expect(outcome).toMatchObject({
      status: "cancelled",
      error: { code: "cancelled" },
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    expect(journal.entries.map(({ type }) => type)).toEqual(["run.step"]);
  });

  it("is cancelled when its end is rejected for that reason", async () => {
    const journal = memoryJournal({
      gate: (_entries, { end }) => {
        if (end && journal.writes.length === 0 && rejected++ === 0)
          throw new RunStopped("cancelled");
      },
    });
    let rejected = 0;
    const { outcome } = await play(server.url, { journal });
    expect(outcome).toMatchObject({ status: "cancelled" });
    expect(journal.entries.map(({ type }) => type)).toEqual(["run.step"]);
  });
});

describe.each(["fenced", "drain"] as const)("a run stopped as %s", (reason) => {
  it("writes nothing more, whether the model, a tool or the journal was running", async () => {
    server.script([blackHole, calling]);
    const asking = memoryJournal();
    await play(server.url, {
      journal: asking,
      signal: stopWhen(reason, () => server.requests.length === 1),
    });
    expect(asking.writes).toEqual([]);

    let isStarted = false;
    const act = tool("act", {
      run: () => {
        isStarted = true;
        return new Promise(() => undefined);
      },
    });
    const acting = memoryJournal();
    await play(server.url, {
      journal: acting,
      tools: [act],
      signal: stopWhen(reason, () => isStarted),
    });
    expect(acting.writes).toHaveLength(1);
    expect(acting.outcome).toBeUndefined();

    server.reset();
    const journal = memoryJournal({
      gate: () => {
        throw new RunStopped(reason);
      },
    });
    await play(server.url, { journal: journal });
    expect(journal.outcome).toBeUndefined();
  });

  it("reports its model call to the caller only if it is released", async () => {
    const { released } = await stopInWait(reason);
    expect(released?.event.type).toBe(reason === "drain" ? "run.step_lost" : undefined);
    expect(released?.calls.length).toBe(reason === "drain" ? 1 : undefined);
  });
});

describe("a run that is drained while the calls of a step are checked", () => {
  it("leaves the calls to the next owner, which makes them", async () => {
    server.script([calling, says("done")]);
    const controller = new AbortController();
    const check = () => void controller.abort(new RunStopped("drain"));
    const { journal } = await play(server.url, {
      tools: [tool("act", { check, safeToRepeat: false })],
      signal: controller.signal,
    });
    const next = memoryJournal({ initial: journal.entries });
    const { outcome } = await play(server.url, {
      journal: next,
      tools: [tool("act", { safeToRepeat: false })],
      resumed: true,
    });

    expect(dataOf(next, "run.tool_result")).toMatchObject([{ call_id: "c1", outcome: "ok" }]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
  });
});

describe("a run that is stopped while the intents of its calls are written", () => {
  /** Stops the run during the write; its tools must not be called. */
  const stopped = async (reason: StopReason, options: { readonly safeToRepeat: boolean }) => {
    server.script([calling]);
    let started = 0;
    const controller = new AbortController();
    const played = await play(server.url, {
      tools: [tool("act", { ...options, run: async () => (started += 1) })],
      journal: memoryJournal({ gate: () => controller.abort(new RunStopped(reason)) }),
      signal: controller.signal,
    });
    expect(started).toBe(0);
    return played;
  };
  const notMade = {
    call_id: "c1",
    outcome: "refused",
    result: expect.stringMatching(/^This call was not made/),
  };

  it("releases the calls as not made, except those that the next owner makes", async () => {
    const unsafe = await stopped("drain", { safeToRepeat: false });
    expect(unsafe.released?.event).toMatchObject({ type: "run.tool_result", data: notMade });
    expect((await stopped("drain", { safeToRepeat: true })).released).toBeUndefined();
  });

  it("ends with the calls as not made if it is cancelled", async () => {
    const { journal, outcome } = await stopped("cancelled", { safeToRepeat: true });
    expect(outcome).toMatchObject({ status: "cancelled" });
    expect(dataOf(journal, "run.tool_result")).toMatchObject([notMade]);
  });
});

describe("a signal", () => {
  it("aborted for an unknown reason counts as drain", async () => {
    server.script(blackHole);
    const { journal } = await play(server.url, { signal: AbortSignal.timeout(30) });
    expect(journal.writes).toEqual([]);
  });

  it("reaches the tools", async () => {
    server.script([calling]);
    let reason: unknown;
    const started = Promise.withResolvers<void>();
    const act = tool("act", {
      run: (_args, { signal }) => {
        started.resolve();
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            reject(new Error("left"));
          });
        });
      },
    });
    let ready = false;
    started.promise.then(() => (ready = true));
    await play(server.url, { tools: [act], signal: stopWhen("cancelled", () => ready) });
    expect(reason).toMatchObject({ reason: "cancelled" });
  });
});

describe("an error of the journal other than RunStopped", () => {
  it("is thrown after every tool of the step was abandoned", async () => {
    server.script([
      says({ calls: [1, 2, 3].map((n) => ({ id: `c${n}`, name: "act", arguments: "{}" })) }),
    ]);
    const journal = memoryJournal({
      gate: (entries) => {
        if (entries.some(({ type }) => type === "run.tool_result"))
          throw new Error("the database is away");
      },
    });
    await expect(play(server.url, { tools: [tool("act")], journal })).rejects.toMatchObject({
      cause: { message: "the database is away" },
      calls: [],
    });
    expect(journal.writes).toHaveLength(1);
  });
});

it("the error of an end that cannot be written has the calls that the end reports", async () => {
  server.script(says("hi"));
  const rejected = new Error("the database rejects the write");
  const journal = memoryJournal({
    gate: () => {
      throw rejected;
    },
  });
  await expect(play(server.url, { journal })).rejects.toMatchObject({
    cause: rejected,
    calls: [{ step: 1, outcome: "answered" }],
  });
});

describe("an answer that has arrived", () => {
  it("is journaled if the run is stopped while it is being written", async () => {
    const release = Promise.withResolvers<void>();
    server.script([held(release.promise, says("the answer"))]);
    const controller = new AbortController();
    const journal = memoryJournal({ gate: () => controller.abort(new RunStopped("cancelled")) });
    release.resolve();
    const { outcome } = await play(server.url, { journal, signal: controller.signal });
    expect(outcome).toMatchObject({ status: "succeeded", output: "the answer" });
  });
});
