import { expect, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { asPrinted, fencesOf, runTypeScript } from "./examples.ts";

/** The README of the client is one program: its blocks of ```ts, one after the other, which print what its blocks of ```text show. */
test("what the client's README says works as it stands", { timeout: 60_000 }, async () => {
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
