import { afterAll, beforeEach, expect, it } from "vitest";
import { memoryJournal, play, tool } from "../../test/engine-run.ts";
import { says, startModelServer } from "../../test/model-server.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const tools = [tool("act")];
const acts = (id: string, text?: string) => {
  const calls = [{ id, name: "act", arguments: "{}" }];
  return says(text === undefined ? { calls } : { text, calls });
};

it.each([
  ["nothing", ""],
  ["blank text", " \n"],
])("a run whose model ends with %s has its last text as output", async (_what, last) => {
  server.script([acts("a", "Draft."), acts("b", "The answer."), acts("c"), says({ text: last })]);
  const { outcome } = await play(server.url, { tools });
  expect(outcome).toMatchObject({ status: "succeeded", output: "The answer." });
});

it("a run whose model wrote nothing at all has an empty output", async () => {
  server.script([acts("a"), says({ text: "" })]);
  const { outcome } = await play(server.url, { tools });
  expect(outcome).toMatchObject({ status: "succeeded", output: "" });
});

it("the output is the same from each prefix of the journal, if another process resumes the run", async () => {
  const script = [acts("a", "The answer."), says({ text: "" })];
  server.script(script);
  const complete = (await play(server.url, { tools })).journal.entries;
  for (let length = 0; length <= complete.length; length += 1) {
    const initial = complete.slice(0, length);
    const answered = initial.filter(({ type }) => type === "run.step").length;
    server.script(script.slice(answered));
    const journal = memoryJournal({ initial });
    const { outcome } = await play(server.url, { tools, resumed: true, journal });
    expect(outcome, `from ${length}`).toMatchObject({ status: "succeeded", output: "The answer." });
  }
});
