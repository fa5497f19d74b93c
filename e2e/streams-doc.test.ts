import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { StreamEvent } from "@beckon/contract";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { startCutter } from "../server/test/cutter.ts";
import { checkout, temporaryFolder } from "./product.ts";

/**
 * docs/streams.md is executed: its blocks of ```sh in order and in one shell, each of which must print what the ```text after it shows, where
 * `…` stands for anything; and its ```js, against a connection that is cut.
 */
const doc = readFileSync(join(checkout, "docs/streams.md"), "utf8");
const fences = [...doc.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, kind = "", text = ""]) => ({ kind, text }));
const of = (wanted: string) => fences.filter(({ kind }) => kind === wanted).map(({ text }) => text);

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();

test("every block is one that is executed", () => {
  expect(new Set(fences.map(({ kind }) => kind))).toEqual(new Set(["sh", "text", "js"]));
  expect(of("text")).toHaveLength(of("sh").length);
});

test("the commands print what is shown", async () => {
  const mark = "-- next --";
  const shell = spawn("sh", ["-e"], {
    env: { PATH: process.env.PATH, URL: beckon.url, AGENT: agent.id, TOKEN: agent.token },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let printed = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  shell.stdin.end(
    of("sh")
      .map((text) => text.replaceAll("curl ", "curl -sS "))
      .join(`\necho '${mark}'\n`),
  );
  expect(await once(shell, "close")).toEqual([0, null]);
  for (const [index, text] of printed.split(`${mark}\n`).entries()) {
    // A run that had to wait first has one event more, which is not what is shown here.
    const shown = of("text")[index] ?? "";
    const pieces = shown
      .trim()
      .split("…")
      .map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    expect(text.trim()).toMatch(new RegExp(`^${pieces.join("[\\s\\S]*?")}$`));
  }
});

test("the code for fetch reads a run to its end, past cuts", async () => {
  const [code = ""] = of("js");
  const file = join(temporaryFolder(), "watch.mjs");
  writeFileSync(file, code);
  const { watch } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    watch: (url: string, token: string, runId: string) => AsyncIterable<StreamEvent>;
  };
  const { body } = await beckon.invoke(agent, "Hello");
  const cutter = await startCutter(new URL(beckon.url), [600, 900]);
  onTestFinished(() => cutter.close());
  const events: StreamEvent[] = [];
  for await (const event of watch(cutter.url, agent.token, body.run_id)) events.push(event);
  expect(events).toEqual((await beckon.call(`/runs/${body.run_id}/events`)).body.data);
  expect(cutter.cuts).toBe(2);
});

test("the code for fetch gives up when it may not read", async () => {
  const [code = ""] = of("js");
  const file = join(temporaryFolder(), "watch.mjs");
  writeFileSync(file, code);
  const { watch } = await import(/* @vite-ignore */ pathToFileURL(file).href);
  await expect(watch(beckon.url, "bka_none", "run_none").next()).rejects.toThrow(/unauthorized/);
});
