import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { StreamEvent } from "@beckon/contract";
import { EventSource } from "eventsource";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { eventually } from "../server/test/eventually.ts";
import { addPerson } from "../server/test/people.ts";
import { startResettingProxy } from "../server/test/resetting-proxy.ts";
import { asPrinted, fencesOf, runTypeScript } from "./examples.ts";
import { temporaryFolder } from "./product.ts";

/**
 * Executes docs/streams.md. Its ```sh blocks run in order in one shell, and its ```ts blocks as one
 * program. Each must print what the ```text block after it shows, where `…` matches anything. The
 * two ```js blocks are called with connections that are closed early.
 */
const fences = fencesOf("docs/streams.md");
const of = (wanted: string) => fences.filter(({ kind }) => kind === wanted).map(({ text }) => text);
const shownAfter = (wanted: string) =>
  fences.flatMap(({ kind }, index) => (kind === wanted ? [fences[index + 1]?.text ?? ""] : []));

const beckon = await startTestBeckon({}, { streamLimits: { checkMs: 50, retryMs: 100 } });
const agent = await beckon.createAgent();
const journalOf = async (runId: string): Promise<StreamEvent[]> =>
  (await beckon.call(`/runs/${runId}/events`)).body.data;

/**
 * Waits until new runs start without being queued, because the outputs in docs/streams.md have no
 * `run.queued`.
 */
beforeAll(() =>
  eventually("a run that begins at once", async () => {
    const [first] = await journalOf((await beckon.invoke(agent, "Hello")).body.run_id);
    // The commands of the page read the first event of the workspace. While an older transaction of
    // another test is open, the API does not return this event yet.
    const { data } = (await beckon.call("/events?limit=1")).body;
    return (first?.type === "run.started" && data.length > 0) || undefined;
  }),
);

async function moduleOf<Exports>(code: string | undefined): Promise<Exports> {
  const file = join(temporaryFolder(), "example.mjs");
  writeFileSync(file, code ?? "");
  return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Exports;
}
type Watch = (
  url: string,
  headers: Record<string, string>,
  runId: string,
) => AsyncGenerator<StreamEvent>;
type Listen = (
  path: string,
  types: readonly string[],
  tell: (event: StreamEvent) => void,
) => EventSource;
const { listen } = await moduleOf<{ listen: Listen }>(of("js")[0]);
const { watch } = await moduleOf<{ watch: Watch }>(of("js")[1]);

async function cutTwice() {
  const cutter = await startResettingProxy(new URL(beckon.url), [600, 900]);
  onTestFinished(() => cutter.close());
  return cutter;
}

test("every code block is of a kind that is tested", () => {
  expect(new Set(fences.map(({ kind }) => kind))).toEqual(new Set(["sh", "text", "ts", "js"]));
  expect(of("text")).toEqual(
    fences.flatMap(({ kind }, index) =>
      kind === "sh" || kind === "ts" ? [fences[index + 1]?.text] : [],
    ),
  );
  expect(of("js")).toHaveLength(2);
});

test("the commands print what the page shows", async () => {
  const mark = "-- next --";
  const shell = spawn("sh", ["-e"], {
    env: {
      PATH: process.env.PATH,
      URL: beckon.url,
      AGENT: agent.id,
      TOKEN: agent.token,
      KEY: beckon.key,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let printed = "";
  let complained = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  shell.stderr.setEncoding("utf8").on("data", (text: string) => {
    complained += text;
  });
  shell.stdin.end(
    of("sh")
      .map((text) => text.replaceAll("curl ", "curl -sS "))
      .join(`\necho '${mark}'\n`),
  );
  const [code] = await once(shell, "close");
  expect(code, complained).toBe(0);
  const responses = printed.split(`${mark}\n`).map((text) => text.trim());
  for (const [index, shown] of shownAfter("sh").entries())
    expect(responses[index]).toMatch(asPrinted(shown.trim()));
});

test("the TypeScript program prints what the page shows", async () => {
  const printed = await runTypeScript(of("ts").join("\n"), {
    URL: beckon.url,
    KEY: beckon.key,
    AGENT: agent.id,
  });
  expect(printed).toMatch(asPrinted(shownAfter("ts").join("")));
});

test("the code for fetch reads a run to its end across cuts, with a token and with a session", async () => {
  const { run_id } = (await beckon.invoke(agent, "Hello")).body;
  const { cookie } = await addPerson(beckon, { role: "viewer" });
  for (const headers of [{ "x-api-key": agent.token }, { cookie }]) {
    const cutter = await cutTwice();
    const events: StreamEvent[] = [];
    for await (const event of watch(cutter.url, headers, run_id)) events.push(event);
    expect(events).toEqual(await journalOf(run_id));
    expect(cutter.cuts).toBe(2);
  }
});

test("the code for fetch stops without access", async () => {
  await expect(watch(beckon.url, { "x-api-key": "bka_none" }, "run_none").next()).rejects.toThrow(
    /unauthorized/,
  );
});

/**
 * Simulates a page on the origin of `url` in which a person is signed in: `EventSource` sends the
 * headers that a browser sends.
 */
async function openPage(url: string) {
  const person = await addPerson(beckon, { role: "viewer" });
  const { id: workspaceId } = (await person.call("/workspaces")).body.data[0];
  class PageEventSource extends EventSource {
    constructor(path: string) {
      super(new URL(path, url), {
        fetch: (address, init) =>
          fetch(address, {
            ...init,
            headers: { ...init.headers, cookie: person.cookie, "sec-fetch-site": "same-origin" },
          }),
      });
      onTestFinished(() => this.close());
    }
  }
  vi.stubGlobal("EventSource", PageEventSource);
  onTestFinished(() => void vi.unstubAllGlobals());
  return { person, workspaceId };
}
const closed = (source: EventSource) =>
  eventually("its end", () => source.readyState === source.CLOSED || undefined);

test("the code for EventSource reads a run to its end across cuts with a session, then stops", async () => {
  const { run_id } = (await beckon.invoke(agent, "Hello")).body;
  const journal = await journalOf(run_id);
  const cutter = await cutTwice();
  const { workspaceId } = await openPage(cutter.url);
  const told: StreamEvent[] = [];
  const types = new Set(journal.map(({ type }) => type));
  await closed(
    listen(`/runs/${run_id}/events?workspace=${workspaceId}`, [...types], (event) =>
      told.push(event),
    ),
  );
  expect(told).toEqual(journal);
  expect(cutter.cuts).toBe(2);
});

test("the code for EventSource reads a workspace until the session is deleted", async () => {
  const { person, workspaceId } = await openPage(beckon.url);
  const told: StreamEvent[] = [];
  const has = (type: string) =>
    eventually(type, () => told.some((event) => event.type === type) || undefined);
  const source = listen(
    `/events?workspace=${workspaceId}`,
    ["stream.opened", "run.finished"],
    (event) => told.push(event),
  );
  await has("stream.opened");
  await beckon.invoke(agent, "Hello");
  await has("run.finished");
  await person.call("/sign-out", { method: "POST" });
  await closed(source);
  expect(told.at(-1)).toMatchObject({ type: "stream.closed", data: { code: "unauthorized" } });
});
