import type { OutputEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { eventually } from "../../../test/eventually.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { LiveRun } from "./live-run.ts";
import { createOutputBuffers } from "./output-buffers.ts";
import { publishOutput } from "./publish-output.ts";

function heardRun() {
  const live = new LiveRun({ runId: "run_1", workspaceId: "wsp_1" }, 1, {
    watchedElsewhere: false,
  });
  const outputBuffers = createOutputBuffers(new ByteBudget({ maxBytes: 1024 * 1024 }));
  const heard: OutputEvent[] = [];
  const output = {
    push: (event: OutputEvent) => heard.push(event),
    take: () => undefined,
    wake: () => {},
    hold: undefined,
  };
  outputBuffers.add(live, output);
  return { live, outputBuffers, output, heard, tell: publishOutput(outputBuffers, live) };
}
const texts = (heard: readonly OutputEvent[]) =>
  heard.flatMap((event) => (event.type === "run.output.delta" ? [event.data.text] : []));

test("the first piece is told at once, and those that follow fast are gathered", () => {
  const { heard, tell } = heardRun();
  tell({ type: "step_start", step: 1, attempt: 1 });
  for (const text of ["a", "b", "c"]) tell({ type: "text_delta", step: 1, text });
  expect(texts(heard)).toEqual(["a"]);
  tell({ type: "step_end", step: 1, complete: true });
  expect(texts(heard)).toEqual(["a", "bc"]);
  expect(heard.at(-1)).toEqual({
    type: "run.output.end",
    run_id: "run_1",
    data: { step: 1, complete: true },
  });
});

test("a piece after which nothing comes is told all the same", async () => {
  const { heard, tell } = heardRun();
  tell({ type: "text_delta", step: 1, text: "a" });
  tell({ type: "text_delta", step: 1, text: "b" });
  await eventually("the second piece", () => texts(heard).length === 2 || undefined);
  expect(texts(heard)).toEqual(["a", "b"]);
});

test("reasoning and text are kept apart, in order", () => {
  const { heard, tell } = heardRun();
  tell({ type: "reasoning_delta", step: 1, text: "a" });
  tell({ type: "reasoning_delta", step: 1, text: "b" });
  tell({ type: "text_delta", step: 1, text: "c" });
  tell({ type: "step_end", step: 1, complete: true });
  expect(
    heard.flatMap((event) =>
      event.type === "run.output.delta" ? [[event.data.kind, event.data.text]] : [],
    ),
  ).toEqual([
    ["reasoning", "a"],
    ["reasoning", "b"],
    ["text", "c"],
  ]);
});

test("what nobody hears is not kept for who comes later", () => {
  const { live, outputBuffers, output, heard, tell } = heardRun();
  tell({ type: "text_delta", step: 1, text: "a" });
  tell({ type: "text_delta", step: 1, text: "b" });
  outputBuffers.delete("run_1", output);
  tell({ type: "text_delta", step: 1, text: "c" });
  outputBuffers.add(live, output);
  tell({ type: "step_end", step: 1, complete: true });
  expect(texts(heard)).toEqual(["a"]);
});

test("a piece that is large is not gathered further", () => {
  const { heard, tell } = heardRun();
  tell({ type: "text_delta", step: 1, text: "a" });
  for (const _ of Array(3)) tell({ type: "text_delta", step: 1, text: "b".repeat(10_000) });
  expect(texts(heard).map((text) => text.length)).toEqual([1, 20_000]);
});
