import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asPrinted, type Fence, fencesOf, runTypeScript } from "./examples.ts";
import { checkout, freePort, startProduct, temporaryFolder } from "./product.ts";

/**
 * Executes the README: every ```sh block in order, in one shell that stops at the first failure,
 * with a server started by the README's command. Every curl must return `"ok": true` unless the
 * ```json block after it shows an error, and must return what that block shows, where `…` matches
 * anything. Every ```ts block must print what the ```text block after it shows.
 */

const fences = fencesOf("README.md");
/** Commands that run these tests and are therefore not executed. */
const runners = /^script\/(test|bench|soak)\b/;
const start = /^((?:[A-Z_]+=\S+ )*)script\/server$/;

/** Returns the commands of a block that are executed. */
function commands({ text }: Fence): string {
  return text
    .split("\n")
    .filter((line) => !runners.test(line) && !start.test(line))
    .join("\n")
    .trim();
}

test("every code block is of a kind that is tested", () => {
  expect(
    fences
      .filter(({ kind }) => !["sh", "ts", "json", "text"].includes(kind))
      .map(({ kind, line }) => `line ${line}: ${kind}`),
  ).toEqual([]);
  expect(
    fences
      .flatMap(({ kind, text }) => (kind === "sh" ? text.split("\n") : []))
      .filter((line) => start.test(line)),
  ).toHaveLength(1);
});

test("the README's commands and programs print what it shows", { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  const product = await startProduct({
    BECKON_DATA_DIR: join(folder, "data"),
    PORT: String(await freePort()),
  });
  const demo = product.demo();
  const variables = {
    URL: product.url,
    AGENT: demo.id,
    TOKEN: demo.token,
    TRIGGER_URL: demo.triggerUrl,
    KEY: readFileSync(product.printed("Bootstrap key"), "utf8").trim(),
    SETUP: /setup#token=(\S+)/.exec(product.output())?.[1] ?? "",
  };
  const blocks = fences.flatMap((fence, index) => {
    const text = fence.kind === "sh" ? commands(fence) : "";
    const next = fences[index + 1];
    return text === "" ? [] : [{ ...fence, text, shown: next?.kind === "json" ? next : undefined }];
  });
  const responses = run(folder, blocks, variables);
  for (const [index, { text, line, shown }] of blocks.entries()) {
    const got = responses(index);
    const where = `README.md:${line}`;
    expect(got, `${where}: responses to its curls`).toHaveLength(
      text.split("\n").filter((each) => /^\s*curl /.test(each)).length,
    );
    const example = shown && (JSON.parse(shown.text) as { ok?: boolean });
    if (example?.ok !== false)
      expect(got, where).toEqual(got.map(() => expect.objectContaining({ ok: true })));
    if (example !== undefined) expect(got.at(-1), where).toEqual(asShown(example));
  }
  for (const [index, { kind, text, line }] of fences.entries()) {
    if (kind === "ts")
      expect(await runTypeScript(text, variables), `README.md:${line}`).toMatch(
        asPrinted(fences[index + 1]?.text ?? ""),
      );
  }
});

/** Runs the blocks in one shell. @returns The JSON responses to the curls of each block. */
function run(
  folder: string,
  blocks: readonly Fence[],
  variables: Readonly<Record<string, string>>,
): (block: number) => unknown[] {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  // A wrapper of curl that also writes each response to a file.
  writeFileSync(
    join(bin, "curl"),
    `#!/bin/sh\nPATH=\${PATH#*:}\nfile=$BLOCK/$(ls "$BLOCK" | wc -l | tr -d ' ')\ncurl -sS "$@" >"$file"\ncode=$?\ncat "$file"\nexit $code\n`,
  );
  chmodSync(join(bin, "curl"), 0o755);
  const folders = blocks.map((_, index) => join(folder, `block-${index}`));
  for (const each of folders) mkdirSync(each);
  const script = blocks
    .map(
      ({ text, line }, index) =>
        `export BLOCK='${folders[index]}'\necho 'README.md:${line}' >&2\n${text}\n`,
    )
    .join("\n");
  const { status, stderr, error } = spawnSync("sh", ["-e"], {
    cwd: checkout,
    input: script,
    encoding: "utf8",
    timeout: 60_000,
    env: { ...variables, PATH: `${bin}:${process.env.PATH}`, HOME: folder },
  });
  expect(error).toBeUndefined();
  expect(status, `the last one of these failed:\n${stderr}`).toBe(0);
  return (index) => {
    const block = folders[index] ?? "";
    const files = readdirSync(block).sort((a, b) => Number(a) - Number(b));
    return files.map((file) => JSON.parse(readFileSync(join(block, file), "utf8")));
  };
}

/** Returns a matcher for a response that the README shows. */
function asShown(example: unknown): unknown {
  if (typeof example === "string" && example.includes("…")) {
    // Ids begin with their time, so only the prefix is compared.
    return expect.stringMatching(asPrinted(example.replaceAll(/_[0-9a-z]+…/g, "_…")));
  }
  if (Array.isArray(example)) return example.map(asShown);
  if (typeof example !== "object" || example === null) return example;
  return Object.fromEntries(Object.entries(example).map(([name, value]) => [name, asShown(value)]));
}
