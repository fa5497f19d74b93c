import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { usageReport } from "@beckon/contract";
import { expect, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { asPrinted, fencesOf, runTypeScript } from "./examples.ts";
import { checkout } from "./product.ts";

/** Executes the chapter on usage in docs/money.md. */

const page = readFileSync(join(checkout, "docs/money.md"), "utf8").split("\n");
const first = page.indexOf("## What is metered and how to read it");
const next = page.findIndex((line, index) => index > first && line.startsWith("## "));
const fences = fencesOf("docs/money.md").filter(
  ({ line }) => line > first && (next === -1 || line < next),
);
const of = (wanted: string) => fences.filter(({ kind }) => kind === wanted).map(({ text }) => text);

const beckon = await startTestBeckon();
await beckon.invoke(await beckon.createAgent(), "Hello");
const env = { URL: beckon.url, KEY: beckon.key };

test("the commands return reports", async () => {
  const script = of("sh").join("\n").replaceAll("curl ", "curl -sS -w '\\n' ");
  const { stdout } = await promisify(execFile)("sh", ["-ec", script], {
    env: { ...env, PATH: process.env.PATH },
  });
  const answers = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(answers.map(({ data }) => usageReport.parse(data).totals.entries)).toEqual([1, 1]);
  expect(answers[1].data.rows).toMatchObject([{ model: "demo/echo", caller_name: "Test" }]);
});

test("the program prints the columns of the file", async () => {
  expect(await runTypeScript(of("ts")[0] ?? "", env)).toMatch(asPrinted(of("text")[0] ?? ""));
});

test("the row that is shown has the fields of a report by day and agent", async () => {
  const { body } = await beckon.call("/usage?group_by=day,agent");
  expect(Object.keys(JSON.parse(of("json")[0] ?? ""))).toEqual(Object.keys(body.data.rows[0]));
});
