import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { FileMistakes } from "../base/settings-file/index.ts";
import { parseOperatorPrices } from "./parse-operator-prices.ts";

/**
 * Executes the commands of the chapter on prices in docs/money.md, and compares the responses with
 * those that the chapter shows.
 */

const text = readFileSync(resolve(import.meta.dirname, "../../../docs/money.md"), "utf8");
const chapter = /^## Prices\n[\s\S]*?(?=^## |(?![\s\S]))/m.exec(text)?.[0] ?? "";
const blocks = (kind: string) =>
  [...chapter.matchAll(new RegExp(`^\`\`\`${kind}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, block = ""]) => block,
  );
const operatorFile = blocks("json").find((block) => block.includes('"models"')) ?? "";
const shown = blocks("json").filter((block) => block !== operatorFile);

/**
 * Returns the expected value for a value that the chapter shows. A `…` at the end of a string
 * stands for any text, and a field with the name `…` for further fields.
 */
function asShown(value: unknown): unknown {
  if (typeof value === "string" && value.endsWith("…"))
    return expect.stringMatching(new RegExp(`^${value.slice(0, -1)}`));
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(asShown);
  const fields = Object.entries(value).filter(([name]) => name !== "…");
  return expect.objectContaining(
    Object.fromEntries(fields.map(([name, field]) => [name, asShown(field)])),
  );
}

test("the commands answer what the chapter shows", async () => {
  const beckon = await startTestBeckon();
  const script = blocks("sh").join("\n").replaceAll("curl ", "curl -sS -w '\\n' ");
  const { stdout } = await promisify(execFile)("sh", ["-ec", script], {
    env: { URL: beckon.url, KEY: beckon.key, PATH: process.env.PATH },
  });
  const answers = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true]);
  const [demo, set] = shown.map((block) => asShown(JSON.parse(block)));
  expect([answers[1], answers[2]]).toEqual([demo, set]);
  expect(answers[3].data).toMatchObject({ name: "own", free: true });
});

test("the operator's file is valid, and its mistakes are reported as the chapter shows", () => {
  expect([...parseOperatorPrices(operatorFile).models.keys()]).toEqual([
    "openai/gpt-5",
    "anthropic/claude-*",
    "ollama/*",
  ]);
  const wrong = operatorFile.replace('"input": 1.1', '"input": "1.1"');
  const [, ...lines] = blocks("text")[0]?.trim().split("\n") ?? [];
  expect(mistakesIn(wrong)).toEqual(lines);
});

function mistakesIn(file: string): string[] {
  try {
    parseOperatorPrices(file);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof FileMistakes)) throw thrown;
    return thrown.list.map(({ line, column, what }) => `line ${line}, column ${column}: ${what}.`);
  }
}
