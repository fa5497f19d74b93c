import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exitCodeMeanings, exitCodes } from "./base/exit-codes.ts";
import { helpText, parseCommandLine, renderSettings } from "./command-line.ts";
import { describeSettings } from "./config.ts";

test.each([
  [[], { kind: "start" }],
  [["--help"], { kind: "help" }],
  [["-h"], { kind: "help" }],
  [["--version"], { kind: "version" }],
  [["--version", "--help"], { kind: "help" }],
  [["--port=3000"], { kind: "unknown", argument: "--port=3000" }],
  [["--help", "8080"], { kind: "unknown", argument: "8080" }],
  [[""], { kind: "unknown", argument: "" }],
])("the arguments %j mean %j", (args, command) => {
  expect(parseCommandLine(args)).toEqual(command);
});

test("docs/settings.md is what config.ts says", () => {
  const published = readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8");
  expect(renderSettings(), "run: node script/settings.ts").toBe(published);
});

test("--help lists each setting with its meaning and default, in lines that fit a terminal", () => {
  const help = helpText("script/server");
  for (const { name } of describeSettings())
    expect(help).toMatch(new RegExp(`^  ${name}\\n( {6}\\S.*\\n)+ {6}Default: `, "m"));
  expect(help.split("\n").filter((line) => line.length > 78 || /`|\]\(/.test(line))).toEqual([]);
});

test("docs/settings.md lists each exit code", () => {
  const listed = exitCodeMeanings.map(([code]) => code);
  for (const code of Object.values(exitCodes)) expect(listed).toContain(String(code));
});
