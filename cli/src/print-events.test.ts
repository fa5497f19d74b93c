import { expect, test } from "vitest";
import { linePrinter, runPrinter, type TailedEvent } from "./print-events.ts";
import type { Terminal } from "./terminal.ts";

const time = "2026-11-22T12:03:07.123Z";
const entry = (type: string, data: object) => ({ run_id: "run_1", type, time, data });
const output = (type: string, data: object): TailedEvent => ({
  run_id: "run_1",
  type: `run.output.${type}`,
  data,
});
const start = (attempt = 1) => output("start", { step: 1, attempt });
const delta = (text: string, kind = "text") => output("delta", { step: 1, kind, text });
const end = (data: object = { complete: true }) => output("end", { step: 1, ...data });
const step = (...parts: object[]) => entry("run.step", { step: 1, parts });
const text = (of: string) => ({ type: "text", text: of });
const line = (type: string, data: object) =>
  `2026-11-22T12:03:07Z  run_1  ${type}  ${JSON.stringify(data)}`;

/** Returns the lines that a printer prints for the events. */
async function printed(
  events: readonly TailedEvent[],
  printer: typeof runPrinter = runPrinter,
): Promise<string[]> {
  let out = "";
  const terminal = {
    isOutputTerminal: false,
    out: async (added: string) => {
      out += added;
    },
  } as Terminal;
  const print = printer(terminal);
  for (const event of events) await print(event);
  return out.trimEnd().split("\n");
}

const stepLine = (...parts: object[]) => line("run.step", { step: 1, parts });

test("text that was generated before the tail began is printed with its step", async () => {
  const finished = entry("run.finished", { output: "Hello" });
  expect(await printed([step(text("Hel"), text("lo")), finished])).toEqual([
    "Hello",
    stepLine(text("Hel"), text("lo")),
    line("run.finished", { output: "Hello" }),
  ]);
});

test("text that was printed as it was generated is not printed again", async () => {
  const parts = [text("Hello")];
  expect(await printed([start(), delta("Hel"), delta("lo"), end(), step(...parts)])).toEqual([
    "Hello",
    stepLine(...parts),
  ]);
});

test("text of which a part was not sent is printed as a whole with its step", async () => {
  const events = [start(), delta("Hel"), end({ complete: false }), step(text("Hello"))];
  expect(await printed(events)).toEqual(["Hel", "Hello", stepLine(text("Hello"))]);
});

test("the text of a step that another process repeats is printed, too", async () => {
  const resumed = entry("run.resumed", { attempt: 2 });
  const lines = await printed([start(), delta("Lost"), end(), resumed, step(text("Repeated"))]);
  expect(lines).toEqual([
    "Lost",
    line("run.resumed", { attempt: 2 }),
    "Repeated",
    stepLine(text("Repeated")),
  ]);
});

test("the text of a failed attempt is on a line of its own, with the reason of the failure", async () => {
  const failed = { complete: false, error: "Too many requests" };
  const lines = await printed([start(), delta("Hello w"), end(failed), start(2), delta("Hello")]);
  expect(lines).toEqual([
    "Hello w",
    expect.stringMatching(/ {2}run\.output\.end {2}.*"error":"Too many requests"/),
    "Hello",
  ]);
});

test("reasoning is not printed as text", async () => {
  const parts = [{ type: "reasoning", text: "Hm" }, text("Yes")];
  expect(await printed([start(), delta("Hm", "reasoning"), delta("Yes"), end()])).toEqual(["Yes"]);
  expect((await printed([step(...parts)]))[0]).toBe("Yes");
});

test("a step whose text is stored as an artifact names it", async () => {
  const data = { step: 1, artifact_id: "art_1", bytes: 100_000 };
  expect(await printed([entry("run.step", data)])).toEqual([
    "The text is in art_1 (100000 bytes).",
    line("run.step", data),
  ]);
});

test("the events of a workspace are printed without the text of the models", async () => {
  expect(await printed([step(text("Hello"))], linePrinter)).toEqual([stepLine(text("Hello"))]);
});
