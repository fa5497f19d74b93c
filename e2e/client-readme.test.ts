import { expect, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { asPrinted, fencesOf, runTypeScript } from "./examples.ts";

/**
 * Runs all ```ts blocks of the client's README as one program, which must print its ```text blocks.
 */
test("the program of the client's README prints what the README shows", {
  timeout: 60_000,
}, async () => {
  const server = await startTestBeckon();
  const fences = fencesOf("client/README.md");
  const textOf = (wanted: string) =>
    fences
      .filter(({ kind }) => kind === wanted)
      .map(({ text }) => text)
      .join("");
  expect(fences.map(({ kind }) => kind)).not.toContain("");
  const printed = await runTypeScript(textOf("ts"), {
    BECKON_URL: server.url,
    BECKON_KEY: server.key,
  });
  expect(printed).toMatch(asPrinted(textOf("text")));
});
