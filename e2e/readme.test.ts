import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../server/test/model-server.ts";
import { caller } from "./call.ts";
import { asPrinted, fencesOf, runTypeScript } from "./examples.ts";
import { checkout, freePort, startProduct, temporaryFolder, until } from "./product.ts";

/**
 * Executes the README and the pages for callers and administrators, as written and in this order.
 *
 * All ```sh blocks run in one shell, which stops at the first failure. Its folder contains `data`,
 * the server is started by the README's command, and a model server listens on Ollama's port. Every
 * curl must return `"ok": true`, unless the ```json block after it shows an error. The last curl of
 * a block must return what the ```json block after it shows, where `…` matches anything; a field
 * `…` stands for other fields. Every ```ts block gets the variables that the shell exports, and
 * must print what the ```text block after it shows.
 */

const pages = ["README.md", "docs/calling.md", "docs/managing.md"];
const fences = pages.flatMap((page) =>
  fencesOf(page).map(({ line, ...fence }) => ({ ...fence, where: `${page}:${line}` })),
);
type PageFence = (typeof fences)[number];

const start = /^((?:[A-Z_]+=\S+ )*)script\/server$/;
/** The README's line with the server's address. Not executed, because the test has another port. */
const address = /^URL=http:\/\/127\.0\.0\.1:3000$/;

/** Returns the commands of a block that are executed. */
function commands({ text }: PageFence): string {
  return text
    .split("\n")
    .filter((line) => !start.test(line) && !address.test(line))
    .join("\n")
    .trim();
}

test("every code block is of a kind that is tested", () => {
  expect(
    fences
      .filter(({ kind }) => !["sh", "ts", "json", "text"].includes(kind))
      .map(({ kind, where }) => `${where}: ${kind}`),
  ).toEqual([]);
  const lines = fences.flatMap(({ kind, text }) => (kind === "sh" ? text.split("\n") : []));
  expect(lines.filter((line) => start.test(line))).toHaveLength(1);
  expect(lines.filter((line) => address.test(line))).toHaveLength(1);
});

test("the README is at most 120 lines long", () => {
  expect(readFileSync(join(checkout, "README.md"), "utf8").split("\n").length).toBeLessThan(121);
});

test("the pages' commands and programs print what they show", async () => {
  const folder = temporaryFolder();
  const ollama = await startModelServer({ host: "127.0.0.1", port: 11_434 }).catch((cause) => {
    throw new Error("This test needs port 11434. Stop the program that uses it.", { cause });
  });
  onTestFinished(() => ollama.close());
  const product = await startProduct({
    BECKON_DATA_DIR: join(folder, "data"),
    BECKON_DISCOVER: "1",
    PORT: String(await freePort()),
  });
  // While the commands run, this process does not respond for Ollama. So Beckon must have found it.
  await until("the probe", () => ollama.listRequests > 0);
  const bootstrapKey = readFileSync(product.printed("Bootstrap key"), "utf8").trim();
  const call = caller(
    () => product.url,
    () => bootstrapKey,
  );
  // The commands must find the demo agent, although the search for it finds this one, too.
  await call("/agents", { body: { name: "Another Demo", model: "demo/echo" } });
  const variables = {
    URL: product.url,
    SETUP: /setup#token=(\S+)/.exec(product.output())?.[1] ?? "",
  };
  const blocks = fences.flatMap((fence, index) => {
    const text = fence.kind === "sh" ? commands(fence) : "";
    const next = fences[index + 1];
    return text === "" ? [] : [{ ...fence, text, shown: next?.kind === "json" ? next : undefined }];
  });
  const { responses, exported } = run(folder, blocks, variables);
  for (const [index, { text, where, shown }] of blocks.entries()) {
    const got = responses(index);
    expect(got, `${where}: responses to its curls`).toHaveLength(
      text.split("\n").filter((each) => /^\s*(\w+=\$\()?curl /.test(each)).length,
    );
    const example = shown && (JSON.parse(shown.text) as { ok?: boolean });
    if (example?.ok !== false)
      expect(got, where).toEqual(got.map(() => expect.objectContaining({ ok: true })));
    if (example !== undefined) expect(got.at(-1), where).toEqual(asShown(example));
  }

  for (const [index, { kind, text, where }] of fences.entries()) {
    if (kind === "ts")
      expect(await runTypeScript(text, exported), where).toMatch(
        asPrinted(fences[index + 1]?.text ?? ""),
      );
  }
});

/**
 * Runs the blocks in one shell.
 * @returns `responses`: the JSON responses to the curls of a block. `exported`: the environment of
 *   programs that are started in this shell afterwards.
 */
function run(
  folder: string,
  blocks: readonly PageFence[],
  variables: Readonly<Record<string, string>>,
): { responses: (block: number) => unknown[]; exported: Record<string, string> } {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  // The shell finds this wrapper before the real curl. The wrapper also writes each response to a
  // file, from which `responses` reads it.
  writeFileSync(
    join(bin, "curl"),
    `#!/bin/sh\nPATH=\${PATH#*:}\nfile=$BLOCK/$(ls "$BLOCK" | wc -l | tr -d ' ')\ncurl -sS "$@" >"$file"\ncode=$?\ncat "$file"\nexit $code\n`,
  );
  chmodSync(join(bin, "curl"), 0o755);
  const folders = blocks.map((_, index) => join(folder, `block-${index}`));
  for (const each of folders) mkdirSync(each);
  const script = blocks
    .map(
      ({ text, where }, index) =>
        `export BLOCK='${folders[index]}'\necho '${where}' >&2\n${text}\n`,
    )
    .join("\n");
  const printEnvironment = `'${process.execPath}' -p 'JSON.stringify(process.env)' >environment.json`;
  const { status, stderr, error } = spawnSync("sh", ["-e"], {
    cwd: folder,
    input: `${script}\n${printEnvironment}`,
    encoding: "utf8",
    timeout: 60_000,
    env: { ...variables, PATH: `${bin}:${process.env.PATH}`, HOME: folder },
  });
  expect(error).toBeUndefined();
  expect(status, `the last one of these failed:\n${stderr}`).toBe(0);
  return {
    exported: JSON.parse(readFileSync(join(folder, "environment.json"), "utf8")),
    responses(index) {
      const block = folders[index] ?? "";
      const files = readdirSync(block).sort((a, b) => Number(a) - Number(b));
      return files.map((file) => JSON.parse(readFileSync(join(block, file), "utf8")));
    },
  };
}

/** Returns a matcher for a response that the README shows. */
function asShown(example: unknown): unknown {
  if (typeof example === "string" && example.includes("…")) {
    // An id has its creation time after the prefix, so only the prefix is compared.
    return expect.stringMatching(asPrinted(example.replaceAll(/_[0-9a-z]+…/g, "_…")));
  }
  if (Array.isArray(example)) return example.map(asShown);
  if (typeof example !== "object" || example === null) return example;
  const { "…": others, ...shown } = example as Record<string, unknown>;
  const fields = Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, asShown(value)]),
  );
  return others === undefined ? fields : expect.objectContaining(fields);
}
