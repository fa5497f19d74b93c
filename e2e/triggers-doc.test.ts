import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { asPrinted, fencesOf } from "./examples.ts";
import { temporaryFolder } from "./product.ts";

/** Executes the commands of docs/triggers.md, which must print what the page shows. */
const fences = fencesOf("docs/triggers.md");
const of = (wanted: string) => fences.filter(({ kind }) => kind === wanted).map(({ text }) => text);

const beckon = await startTestBeckon();

test("the commands print what the page shows", async () => {
  const { id } = await beckon.createAgent();
  const mark = "-- next --";
  const shell = spawn("sh", ["-e"], {
    cwd: temporaryFolder(),
    env: { PATH: process.env.PATH, URL: beckon.url, KEY: beckon.key, AGENT: id },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let printed = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  shell.stdin.end(of("sh").join(`\necho '${mark}'\n`));
  expect((await once(shell, "close"))[0]).toBe(0);
  const shown = of("text");
  const responses = printed.split(`${mark}\n`).map((text) => text.trim());
  expect(responses).toHaveLength(shown.length);
  for (const [index, each] of shown.entries())
    expect(responses[index]).toMatch(asPrinted(each.trim()));
});
