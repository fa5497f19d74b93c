import { expect, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { asPrinted, fencesOf, installedNodes, runJavaScript, runTypeScript } from "./examples.ts";

/**
 * Returns all blocks of one kind in the client's README, joined. The `ts` blocks together are one
 * program, and the `text` blocks are what it prints.
 */
const textOf = (wanted: string) =>
  fencesOf("client/README.md")
    .filter(({ kind }) => kind === wanted)
    .map(({ text }) => text)
    .join("");

test("the program of the client's README prints what the README shows", async () => {
  const server = await startTestBeckon();
  expect(fencesOf("client/README.md").map(({ kind }) => kind)).not.toContain("");
  const printed = await runTypeScript(textOf("ts"), {
    BECKON_URL: server.url,
    BECKON_KEY: server.key,
  });
  expect(printed).toMatch(asPrinted(textOf("text")));
});

test("the program of the client's README prints an output that is not streamed", async () => {
  const server = await startTestBeckon();
  const model = 'model: "demo/echo"';
  const program = textOf("ts").replace(model, `${model}, model_settings: { stream: "never" }`);
  const printed = await runTypeScript(program, { BECKON_URL: server.url, BECKON_KEY: server.key });
  expect(printed).toContain("run.finished\n\nHello\nstream.opened\n");
});

test.each(installedNodes())(
  "the program of the client's README runs with the published package on %s",
  async (node) => {
    const server = await startTestBeckon();
    const printed = await runJavaScript(
      textOf("ts"),
      { BECKON_URL: server.url, BECKON_KEY: server.key },
      node,
    );
    expect(printed).toMatch(asPrinted(textOf("text")));
  },
);
