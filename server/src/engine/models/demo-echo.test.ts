import { expect, it } from "vitest";
import { memoryJournal, play, tool } from "../../../test/engine-run.ts";
import { demoEcho } from "./demo-echo.ts";

const echo = { model: demoEcho, modelName: "demo/echo" };

it.each(["never", "always"] as const)(
  "repeats the input, whatever it is, unless it is blank (streamed: %s)",
  async (stream) => {
    for (const input of ["hello", "  two\n\nparagraphs  ", "grüße 😀\t!", "say /call clock"]) {
      const { outcome } = await play("", {
        ...echo,
        input,
        instructions: "ignored",
        settings: { stream },
      });
      expect(outcome).toMatchObject({ status: "succeeded", output: input });
      expect(outcome?.usage.estimated).toBeUndefined();
    }
    for (const input of [" ", "\n"]) {
      const { outcome } = await play("", { ...echo, input, settings: { stream } });
      expect(outcome).toMatchObject({ status: "succeeded", output: "The message is blank." });
    }
  },
);

it.each(["never", "always"] as const)(
  "calls the tools that its input names and answers with their results (streamed: %s)",
  async (stream) => {
    const input = 'please\n/call clock {"time_zone":"UTC"}\n/call nowhere\nthank you';
    const clock = tool("clock", { run: async () => ({ time: "noon" }) });
    const { outcome } = await play("", {
      ...echo,
      input,
      tools: [clock],
      settings: { stream },
      journal: memoryJournal(),
    });
    expect(outcome).toMatchObject({
      status: "succeeded",
      output:
        'clock answered: {"time":"noon"}\nnowhere answered: There is no tool named "nowhere". Available tools: clock.',
    });
  },
);

it("streams word by word", async () => {
  const { deltas } = await play("", {
    ...echo,
    input: "one two\nthree",
    settings: { stream: "always" },
  });
  expect(deltas.flatMap((delta) => (delta.type === "text_delta" ? [delta.text] : []))).toEqual([
    "one",
    " two",
    "\nthree",
  ]);
});
