import type { OutputEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { eventually } from "../../../test/eventually.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { LiveRun } from "./live-run.ts";
import { createOutputBuffers } from "./output-buffers.ts";
import { publishOutput } from "./publish-output.ts";

function runWithSubscriber() {
  const live = new LiveRun({ runId: "run_1", workspaceId: "wsp_1" }, 1, {
    hasRemoteSubscribers: false,
  });
  const outputBuffers = createOutputBuffers(new ByteBudget({ maxBytes: 1024 * 1024 }));
  const received: OutputEvent[] = [];
  const output = {
    push: (event: OutputEvent) => received.push(event),
    take: () => undefined,
    wake: () => {},
    hold: undefined,
  };
  outputBuffers.add(live, output);
  return { live, outputBuffers, output, received, publish: publishOutput(outputBuffers, live) };
}
const texts = (events: readonly OutputEvent[]) =>
  events.flatMap((event) => (event.type === "run.output.delta" ? [event.data.text] : []));

test("the first delta is sent at once, and deltas that follow fast are joined", () => {
  const { received, publish } = runWithSubscriber();
  publish({ type: "step_start", step: 1, attempt: 1 });
  for (const text of ["a", "b", "c"]) publish({ type: "text_delta", step: 1, text });
  expect(texts(received)).toEqual(["a"]);
  publish({ type: "step_end", step: 1, complete: true });
  expect(texts(received)).toEqual(["a", "bc"]);
  expect(received.at(-1)).toEqual({
    type: "run.output.end",
    run_id: "run_1",
    data: { step: 1, complete: true },
  });
});

test("the end of a failed attempt says why it failed", () => {
  const { received, publish } = runWithSubscriber();
  publish({ type: "step_start", step: 1, attempt: 1 });
  publish({ type: "step_end", step: 1, complete: false, error: "It answered 429." });
  expect(received.at(-1)).toEqual({
    type: "run.output.end",
    run_id: "run_1",
    data: { step: 1, complete: false, error: "It answered 429." },
  });
});

test("a pending delta is sent after the interval even if no other follows", async () => {
  const { received, publish } = runWithSubscriber();
  publish({ type: "text_delta", step: 1, text: "a" });
  publish({ type: "text_delta", step: 1, text: "b" });
  await eventually("the second delta", () => texts(received).length === 2 || undefined);
  expect(texts(received)).toEqual(["a", "b"]);
});

test("reasoning and text are sent in separate deltas, in order", () => {
  const { received, publish } = runWithSubscriber();
  publish({ type: "reasoning_delta", step: 1, text: "a" });
  publish({ type: "reasoning_delta", step: 1, text: "b" });
  publish({ type: "text_delta", step: 1, text: "c" });
  publish({ type: "step_end", step: 1, complete: true });
  expect(
    received.flatMap((event) =>
      event.type === "run.output.delta" ? [[event.data.kind, event.data.text]] : [],
    ),
  ).toEqual([
    ["reasoning", "a"],
    ["reasoning", "b"],
    ["text", "c"],
  ]);
});

test("output without a subscriber is not kept for later subscribers", () => {
  const { live, outputBuffers, output, received, publish } = runWithSubscriber();
  publish({ type: "text_delta", step: 1, text: "a" });
  publish({ type: "text_delta", step: 1, text: "b" });
  outputBuffers.delete("run_1", output);
  publish({ type: "text_delta", step: 1, text: "c" });
  outputBuffers.add(live, output);
  publish({ type: "step_end", step: 1, complete: true });
  expect(texts(received)).toEqual(["a"]);
});

test("a pending delta that has become large is sent at once", () => {
  const { received, publish } = runWithSubscriber();
  publish({ type: "text_delta", step: 1, text: "a" });
  for (const _ of Array(3)) publish({ type: "text_delta", step: 1, text: "b".repeat(10_000) });
  expect(texts(received).map((text) => text.length)).toEqual([1, 20_000]);
});
