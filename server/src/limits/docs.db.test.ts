import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { parseOperatorPlans } from "./plans/operator-plans.ts";

/**
 * Executes the commands of the chapter on limits in docs/money.md, and compares the responses with
 * those that the chapter shows.
 */

const text = readFileSync(resolve(import.meta.dirname, "../../../docs/money.md"), "utf8");
const chapter = /^## Limits\n[\s\S]*?(?=^## |(?![\s\S]))/m.exec(text)?.[0] ?? "";
const blocks = (kind: string) =>
  [...chapter.matchAll(new RegExp(`^\`\`\`${kind}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, block = ""]) => block,
  );
const operatorFile = blocks("json").find((block) => block.includes('"plans"')) ?? "";
const shown = blocks("json").filter((block) => block !== operatorFile);

/**
 * Returns the expected value for a value that the chapter shows. A `…` at the end of a string
 * stands for any text.
 */
function asShown(value: unknown): unknown {
  if (typeof value === "string" && value.endsWith("…"))
    return expect.stringMatching(new RegExp(`^${value.slice(0, -1)}`));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, asShown(field)]));
}

test("the commands answer what the chapter shows", async () => {
  const beckon = await startTestBeckon();
  const { id } = await beckon.createAgent();
  const support = (await beckon.call("/workspaces", { body: { name: "Support" } })).body.data;
  await beckon.call("/workspaces", { body: { name: "Sales" } });
  const script = blocks("sh").join("\n").replaceAll("curl ", "curl -sS -w '\\n' ");
  const { stdout } = await promisify(execFile)("sh", ["-ec", script], {
    env: { URL: beckon.url, KEY: beckon.key, AGENT: id, PATH: process.env.PATH },
  });
  const answers = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true, true, true]);
  const [ceiling, plan] = shown.map((block) => asShown(JSON.parse(block)));
  expect([answers[0], answers[4]]).toEqual([ceiling, plan]);
  expect(answers[1].data).toEqual([answers[0].data]);
  expect(answers[2].data).toMatchObject({ plan: "unlimited" });
  expect(answers.slice(4).map(({ data }) => [data.workspace_id, data.plan])).toEqual([
    [support.id, "team"],
    [support.id, "unlimited"],
  ]);
});

test("the operator's file is valid", () => {
  expect([...parseOperatorPlans(operatorFile)]).toEqual([
    ["team", { tokens: 50_000_000, voice_ms: null, browser_ms: null, cost_micros: 100_000_000 }],
    [
      "support",
      { tokens: 200_000_000, voice_ms: 360_000_000, browser_ms: 36_000_000, cost_micros: null },
    ],
  ]);
});
