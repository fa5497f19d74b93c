// This file is long because all its tests share the tools, and the functions that read the page.
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { eventually } from "../../server/test/eventually.ts";
import { growJournal } from "../../server/test/grow-journal.ts";
import {
  type Behaviour,
  says,
  startModelServer,
  status,
  withDelivery,
} from "../../server/test/model-server.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";
import { reloadWithStream } from "./live-stream.ts";

const attack = `payload <img src=x onerror="document.title='x'">[a](javascript:alert(1))<script>alert(1)</script>`;
const gates = new Map<string, PromiseWithResolvers<void>>();

type Tool = NonNullable<NonNullable<Parameters<typeof startTestBeckon>[1]>["tools"]>[number];
const tool = (name: string, execute: Tool["execute"]): Tool => ({
  name,
  description: `The tool ${name}.`,
  parameters: { type: "object" },
  safeToRepeat: true,
  execute,
});
const tools = [
  tool("orders_get", async () => ({ status: attack })),
  tool("refund_create", async () => {
    throw new Error("The shop responded 502.");
  }),
  tool("wait_for_gate", async (args) => {
    await gates.get((args as { gate: string }).gate)?.promise;
    return "The gate is open.";
  }),
  tool("report_write", async () => "line of the report\n".repeat(5_000)),
];

const beckon = await startTestBeckon({}, { tools });
const owner = await createOwner(beckon.url, await setupToken(beckon));
const model = await startModelServer();
afterAll(() => model.close());
const provider = await beckon.createProvider(model.url);
const scripted = { model: `${provider.name}/scripted` };

const asks = (...calls: readonly (readonly [string, object?])[]): Behaviour =>
  says({
    calls: calls.map(([name, args = {}], index) => ({
      id: `call_${index}`,
      name,
      arguments: JSON.stringify(args),
    })),
  });

/** Starts a run of a new agent whose model follows the script. */
async function start(
  script: readonly Behaviour[],
  { input = "Hello", ...body }: { input?: string } & Record<string, unknown> = {},
): Promise<string> {
  const agent = await beckon.createAgent({ name: "Refund desk", ...scripted, ...body });
  model.script(script);
  const started = await beckon.invoke(agent, input, { prefer: "respond-async" });
  return started.body.run_id;
}

async function ended(script: readonly Behaviour[], body?: Parameters<typeof start>[1]) {
  const runId = await start(script, body);
  await eventually("the end of the run", async () => {
    const { finished_at: end } = (await beckon.call(`/runs/${runId}`)).body.data;
    return end === null ? undefined : true;
  });
  return runId;
}

const open = (runId: string, { search = "", as = owner, ...options }: OpenRun = {}) =>
  openDashboard(beckon.url, {
    as,
    path: `/w/${owner.workspaceId}/runs/${runId}${search}`,
    ...options,
  });
interface OpenRun {
  readonly search?: string;
  readonly as?: { readonly cookie: string };
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly hasTouch?: boolean;
}

const detail = (page: Page) => page.getByRole("region", { name: "Detail of the step" });
const steps = (page: Page) => page.getByRole("tree", { name: "Steps" });
const row = (page: Page, name: string | RegExp) => steps(page).getByRole("treeitem", { name });
const selected = (page: Page, name: string | RegExp) =>
  steps(page).getByRole("treeitem", { name, selected: true });

inBrowser("a failed run opens at the step that failed, and keys lead to the others", async () => {
  const script = [
    asks(["orders_get", { id: 4711 }]),
    asks(["refund_create"]),
    asks(["orders_get"]),
  ];
  const runId = await ended(script, { limits: { max_steps: 3 } });
  const page = await open(runId);
  await selected(page, /step limit/).waitFor();
  const reason = page.getByRole("region", { name: "Why the run ended" });
  await reason.getByText("used all of its 3 steps").waitFor();
  await reason.getByText("step_limit", { exact: true }).waitFor();
  await expectAccessible(page);

  await page.keyboard.press("]");
  await selected(page, /refund_create failed/).waitFor();
  await steps(page).focus();
  await page.keyboard.press("Home");
  // Waits until the page shows the selection, because the next key moves from the shown selection.
  await selected(page, /^Model call 1/).waitFor();
  await page.keyboard.press("ArrowDown");
  await selected(page, /^orders_get/).waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("seq")).toBe("3");
  await page.keyboard.press("Enter");
  await detail(page).and(page.locator(":focus")).waitFor();
  await detail(page).getByText("4711").waitFor();

  await page.reload();
  await selected(page, /^orders_get/).waitFor();
  await detail(page).getByText(`${runId}:`).waitFor();
});

inBrowser(
  "two changes of the view are kept, also if both come before the page shows one",
  async () => {
    const runId = await ended([says("Done")]);
    const page = await open(runId);
    await detail(page).getByRole("button", { name: "Text", exact: true }).waitFor();
    await page.getByRole("tab", { name: "Output", selected: true }).waitFor();
    // Both presses are made in one task, so that the page cannot render between them.
    await page.evaluate(`{
    const press = (selector, text) =>
      [...document.querySelectorAll(selector)].find((each) => each.textContent === text).click();
    press("[aria-label='Detail of the step'] button", "Text");
    press("[role=tab]", "Input");
  }`);
    await page.getByRole("tab", { name: "Input", selected: true }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("?tab=input&view=text");
  },
);

inBrowser("on a phone, Enter opens no step while none is chosen", async () => {
  const runId = await ended([says({ text: "Done." })]);
  const page = await open(runId, { viewport: viewports.phone });
  await row(page, /^Model call 1/).waitFor();
  await steps(page).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Home");
  await selected(page, /^Model call 1/).waitFor();
  expect(new URL(page.url()).searchParams.get("seq")).toBeNull();
  await page.keyboard.press("Enter");
  await detail(page).and(page.locator(":focus")).waitFor();
});

inBrowser.each([
  ["a mouse", 24, {}],
  ["fingers", 44, { hasTouch: true }],
])("the lines of JSON are high enough for %s", async (_, minPx, options) => {
  const input = '{"order": {"items": {"a": 1}, "sender": {"b": 2}}}';
  const page = await open(await ended([says("Done")], { input }), options);
  await page.getByRole("tab", { name: "Input" }).click();
  const lines = page.getByRole("tree", { name: "Input" }).getByRole("treeitem");
  await lines.filter({ hasText: "sender" }).waitFor();
  const heights = await lines.evaluateAll((all) => all.map((line) => line.clientHeight));
  expect(heights).toHaveLength(4);
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(minPx);
});

inBrowser("a run is shown while it happens, one event at a time", async () => {
  gates.set("live", Promise.withResolvers());
  const script = [asks(["wait_for_gate", { gate: "live" }]), says("All *done*.")];
  const runId = await start(script, { input: '{"order": 4711}' });
  const page = await open(runId);
  await row(page, /wait_for_gate in progress/).waitFor();
  await page.getByRole("tree", { name: "Input" }).waitFor();
  // The clock of the page renders it again, but does not parse its texts again.
  await page.evaluate(`{
    const { parse } = JSON;
    globalThis.parsed = [];
    JSON.parse = (...args) => parsed.push(args[0]) && parse(...args);
  }`);
  const duration = detail(page).locator("header");
  const before = await duration.textContent();
  await expect.poll(() => duration.textContent()).not.toBe(before);
  expect(await page.evaluate("parsed")).not.toContain('{"order": 4711}');
  await detail(page).getByText("The tool has not answered yet.").waitFor();
  const journalReads: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("view=summary")) journalReads.push(request.url());
  });
  gates.get("live")?.resolve();
  await page.getByRole("status").getByText("Run succeeded").waitFor({ state: "attached" });
  await row(page, /^Model call 2 \d/).waitFor();
  await detail(page).getByText("done", { exact: true }).waitFor();
  await row(page, /wait_for_gate/).click();
  await detail(page).getByText("The gate is open.").waitFor();
  // The page opened with the tab Input, because the run had no output yet. The tab stays open.
  await page.getByRole("tab", { name: "Input", selected: true }).waitFor();
  await page.getByRole("tab", { name: "Output" }).click();
  await page.getByRole("tabpanel").getByText("All done.").waitFor();
  expect(journalReads).toEqual([]);
});

inBrowser("a run that goes on while the page reads all its data again is shown whole", async () => {
  for (const gate of ["read", "end"]) gates.set(gate, Promise.withResolvers());
  const script = [
    asks(["wait_for_gate", { gate: "read" }]),
    asks(["wait_for_gate", { gate: "end" }]),
  ];
  const runId = await start([...script, says("Done.")]);
  const page = await open(runId);
  const { reset } = await reloadWithStream(page);
  await row(page, /wait_for_gate in progress/).waitFor();
  const journal = await holdRequests(page, /events\?.*view=summary/, { isSent: true });
  await reset();
  await journal.reached;
  gates.get("read")?.resolve();
  await eventually("the second call", async () => {
    const { data } = (await beckon.call(`/runs/${runId}/events`)).body;
    const calls = data.filter(({ type }: { type: string }) => type === "run.tool_call");
    return calls.length === 2 ? true : undefined;
  });
  await renderFrames(page);
  await journal.release();
  await renderFrames(page);
  await row(page, /^Model call 2 \d/).waitFor();
  gates.get("end")?.resolve();
  await page.getByRole("status").getByText("Run succeeded").waitFor({ state: "attached" });
});

inBrowser("what the model writes appears word by word, until the run is cancelled", async () => {
  const answer = says("One two three four five");
  const whole = await model.bytesOf(answer, { model: "scripted", stream: true, messages: [] });
  const half = withDelivery({ type: "stall", after: Math.round(whole * 0.6) }, answer);
  gates.set("words", Promise.withResolvers());
  const script = [asks(["wait_for_gate", { gate: "words" }]), half];
  const runId = await start(script, { model_settings: { stream: "always" } });
  const page = await open(runId);
  const { reset } = await reloadWithStream(page);
  await page.getByRole("main").getByText("Live", { exact: true }).waitFor();
  gates.get("words")?.resolve();
  await row(page, /^Model call 2 in progress/).waitFor();
  await detail(page).getByText(/^One/).waitFor();
  // The server sends output only once, so after a reset the text would have a gap. The page
  // therefore discards the output that it had.
  const journal = page.waitForResponse(/events\?.*view=summary/);
  await reset();
  await journal;
  await page.getByRole("main").getByText("Live", { exact: true }).waitFor();
  await row(page, /^Model call 2 in progress/).waitFor();
  await renderFrames(page);
  expect(await detail(page).getByText(/^One/).count()).toBe(0);
  await page.getByRole("button", { name: "Cancel run" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel run" }).click();
  await page.getByRole("status").getByText("Run cancelled").waitFor({ state: "attached" });
  await row(page, "Cancelled").waitFor();
  await row(page, /^Model call 2 stopped unknown/).click();
  await detail(page).getByText("cancelled while the model wrote").waitFor();
  await page.getByRole("button", { name: "Retry" }).waitFor();
});

inBrowser("a rejected call says why, with the arguments that the model wrote", async () => {
  const runId = await ended([asks(["orders_delete", { id: 4711 }]), says("I could not.")]);
  const page = await open(runId);
  await row(page, /^orders_delete rejected$/).click();
  const text = 'There is no tool named "orders_delete". The tool was not called.';
  await detail(page).getByText(text).waitFor();
  await detail(page).getByRole("tree", { name: "Arguments" }).getByText("4711").waitFor();
  await detail(page).getByText("What the model got", { exact: true }).waitFor();
  await detail(page)
    .getByText(/Available tools: orders_get/)
    .waitFor();
});

inBrowser("a run is retried, and one with an input of one's own", async () => {
  const runId = await ended([says("First")]);
  const page = await open(runId);
  const retry = page.getByRole("button", { name: "Retry" });
  await retry.click();
  await page.getByRole("menuitem", { name: /With the current version/ }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(runId));
  await page.getByText("Retry of", { exact: true }).waitFor();
  await page.getByRole("status").getByText("Run succeeded").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Compare with the earlier run" }).click();
  const compared = page.getByRole("dialog", { name: "Compare with the earlier run" });
  await compared.getByText("The same input, before and now.").waitFor();
  await compared.getByRole("region", { name: "Earlier" }).getByText("First").waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("compare")).toBe("1");
  await page.keyboard.press("Escape");
  await compared.waitFor({ state: "detached" });

  await retry.click();
  await page.getByRole("menuitem", { name: "With another input…" }).click();
  const dialog = page.getByRole("dialog", { name: "Retry with another input" });
  const input = dialog.getByRole("textbox", { name: "Input" });
  await input.fill("");
  await dialog.getByRole("button", { name: "Start run" }).click();
  await dialog.getByText("must not be empty").waitFor();
  await input.and(page.locator(":focus")).waitFor();
  await input.fill("Another question");
  await page.keyboard.press("Control+K");
  await page.getByRole("combobox", { name: "Find, go and act" }).fill("Runs");
  await page.getByRole("option", { name: /^Runs/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  const leave = page.getByRole("alertdialog", { name: "Leave without saving?" });
  await leave.getByRole("button", { name: "Cancel" }).click();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const discard = page.getByRole("alertdialog", { name: "Close without saving?" });
  await discard.getByRole("button", { name: "Cancel" }).click();
  await dialog.getByRole("button", { name: "Start run" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Input" }).click();
  await page.getByRole("tabpanel").getByText("Another question").waitFor();
  // Otherwise its model call could get the response that the next test scripts.
  await page.getByRole("status").getByText("Run succeeded").waitFor({ state: "attached" });
});

inBrowser("an input that was only visited is retried with its own line breaks", async () => {
  const runId = await ended([says("First"), says("Second")], { input: "One\r\nTwo" });
  const page = await open(runId);
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("menuitem", { name: "With another input…" }).click();
  const dialog = page.getByRole("dialog", { name: "Retry with another input" });
  await dialog.getByRole("textbox", { name: "Input" }).focus();
  await page.keyboard.press("Tab");
  const sent = page.waitForRequest(/\/retry$/);
  await dialog.getByRole("button", { name: "Start run" }).click();
  expect((await sent).postDataJSON()).toEqual({ version: "current" });
  await page.waitForURL((url) => !url.pathname.endsWith(runId));
  const [retried = ""] = /run_\w+/.exec(page.url()) ?? [];
  expect((await beckon.call(`/runs/${retried}`)).body.data.input).toBe("One\r\nTwo");
  await page.getByRole("status").getByText("Run succeeded").waitFor({ state: "attached" });
});

inBrowser("large data is shown on request, and can be downloaded", async () => {
  const runId = await ended([asks(["report_write"]), says("Done")]);
  const page = await open(runId, { search: "?seq=4" });
  await detail(page)
    .getByText(/of data, more than the page loads/)
    .waitFor();
  await detail(page).getByText("OK", { exact: true }).waitFor();
  // The height of the detail depends on the number of steps, and this run has few.
  await expect.poll(async () => (await detail(page).boundingBox())?.height).toBeLessThan(360);
  const loading = page.waitForEvent("download");
  await detail(page).getByRole("link", { name: "Download" }).click();
  const file = await readFile(await (await loading).path(), "utf8");
  expect(JSON.parse(file).result).toContain("line of the report");
  await detail(page).getByRole("button", { name: "Show it here" }).click();
  await detail(page).getByText("line of the report").first().waitFor();
});

inBrowser("what is found in a closed part of JSON is opened and scrolled to", async () => {
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`);
  const runId = await ended([says("Done")], { input: JSON.stringify({ lines }) });
  const page = await open(runId, { search: "?tab=input" });
  await page.getByRole("searchbox", { name: /^Find in/ }).fill("line 150");
  await page.locator("[role=treeitem][aria-selected=true]").getByText("line 150").waitFor();
  // The first line of the tree, which could be reached at first, is no longer in the document.
  await page.locator("[role=treeitem][tabindex='0']").getByText("line 150").waitFor();
});

inBrowser("texts of callers, models and tools do nothing", async () => {
  const agent = { name: attack, input: attack };
  const script = [asks(["orders_get", { [attack]: attack }]), asks([attack]), says(attack)];
  const runId = await ended(script, agent);
  const page = await open(runId);
  for (const view of ["Rendered", "Text", "JSON"]) {
    await detail(page).getByRole("button", { name: view }).click();
    for (const seq of [3, 5, 7]) {
      await row(page, /./)
        .nth((seq - 1) / 2)
        .click();
      await detail(page).getByText("payload").first().waitFor();
    }
  }
  for (const tab of ["Input", "Output"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.getByRole("tabpanel").getByText("payload").first().waitFor();
  }
  await expect.poll(() => page.title()).toContain("Beckon");
});

inBrowser(
  "a long run shows the rows in sight only, and a link leads to one of its steps",
  async () => {
    const runId = await ended([says("Done")]);
    await growJournal(beckon.db.database.engine, runId, 1_000, 10);
    const page = await open(runId, { search: "?seq=900" });
    const step = selected(page, /^Model call 899/);
    await step.waitFor();
    await expect.poll(() => step.getAttribute("aria-posinset")).toBe("899");
    await expect.poll(() => row(page, /./).count()).toBeLessThan(80);
    const active = () => steps(page).getAttribute("aria-activedescendant");
    expect(await active()).toBe(await step.getAttribute("id"));
    await steps(page).hover();
    await page.mouse.wheel(0, -100_000);
    await row(page, /^Model call 1 /).waitFor();
    expect(await active()).toBeNull();
    await page.getByRole("tab", { name: "Raw journal" }).click();
    await page.getByRole("table", { name: "Raw journal" }).waitFor();
  },
);

inBrowser("a held arrow key moves through the steps, and changes the URL after it", async () => {
  const runId = await ended([says("Done")]);
  await growJournal(beckon.db.database.engine, runId, 300, 10);
  const page = await open(runId, { search: "?seq=2" });
  await selected(page, /^Model call 1 /).waitFor();
  await steps(page).focus();
  // Safari allows a page about 100 changes of its URL in 10 seconds. React renders moves in
  // microtasks, so all key events are sent before a timer ends, however busy the machine is.
  await page.evaluate(`(async () => {
    const { replaceState } = history;
    globalThis.changes = 0;
    history.replaceState = (...args) => (changes++, replaceState.apply(history, args));
    const options = { key: "ArrowDown", repeat: true, bubbles: true, cancelable: true };
    for (let press = 0; press < 120; press++) {
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", options));
      await undefined;
    }
  })()`);
  const seq = () => Number(new URL(page.url()).searchParams.get("seq"));
  await expect.poll(seq).toBeGreaterThan(40);
  expect(await page.evaluate("changes")).toBe(1);
  // The entry with `seq` 2 has the first row.
  const shown = selected(page, new RegExp(`^Model call ${seq() - 1} `));
  await shown.waitFor();
  await page.reload();
  await shown.waitFor();
});

inBrowser("a step that was just reached with a key is selected after going back", async () => {
  const runId = await ended([asks(["orders_get"]), says("Done")]);
  const page = await open(runId, { search: "?seq=2" });
  await selected(page, /^Model call 1/).waitFor();
  await steps(page).focus();
  // Both keys are pressed in one task, so that the time until the URL is changed cannot pass.
  await page.evaluate(`(async () => {
    const press = (key) => {
      const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(event);
    };
    press("ArrowDown");
    await new Promise((resolve) => requestAnimationFrame(resolve));
    press("Tab");
    await Promise.resolve();
    document.querySelector("nav a[href$='/agents']").click();
  })()`);
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await page.goBack();
  await selected(page, /^orders_get/).waitFor();
});

inBrowser("the version of a run leads to what that version changed", async () => {
  const agent = await beckon.createAgent({ name: "Refund desk", ...scripted });
  const save = (instructions: string) =>
    beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { instructions } });
  await save("Of the second version");
  model.script([says("Done")]);
  const { body } = await beckon.invoke(agent, "Hello");
  await save("Of the third version");
  const page = await open(body.run_id);
  await page.getByRole("main").getByRole("link", { name: "2", exact: true }).click();
  const changes = page.getByRole("list", { name: "Changes" });
  await changes.getByText("Of the second version").waitFor();
  expect(await changes.getByText("Of the third version").count()).toBe(0);
});

inBrowser("a draft run shows no maximum of attempts, because the version has another", async () => {
  const agent = await beckon.createAgent({ ...scripted, limits: { max_attempts: 3 } });
  const attempt = (page: Page) =>
    page
      .getByRole("main")
      .locator("dl")
      .first()
      .locator("div", { hasText: /^Attempt/ });
  model.script([says("Done")]);
  const saved = await open((await beckon.invoke(agent, "Hello")).body.run_id);
  await expect.poll(() => attempt(saved).textContent()).toBe("Attempt1 of 3");
  model.script([says("Done")]);
  const { body } = await beckon.call(`/agents/${agent.id}/draft-runs`, {
    body: { input: "Hello", config: { limits: { max_attempts: 1 } } },
  });
  const page = await open(body.data.id);
  const version = page.waitForResponse(/\/versions\/1$/);
  await page.reload();
  await (await version).finished();
  await page.getByText("with unsaved changes").waitFor();
  await renderFrames(page);
  expect(await attempt(page).textContent()).toBe("Attempt1");
});

inBrowser(
  "on a phone the detail is a page, and the facts begin with what matters first",
  async () => {
    const runId = await ended([asks(["orders_get"]), says("Done")]);
    const page = await open(runId, { viewport: viewports.narrow });
    const facts = page.getByRole("main").locator("dl").first().getByRole("term");
    await facts.first().waitFor();
    await expect
      .poll(() => facts.allTextContents())
      .toEqual(["Created", "Source", "Version", "Attempt", "Cost", "Tokens"]);
    await page.getByText("More facts").click();
    await page.getByText("Ended", { exact: true }).waitFor();
    await page.getByRole("tabpanel").getByText("Done", { exact: true }).waitFor();
    await expect.poll(() => selected(page, /./).count()).toBe(0);
    await row(page, /^orders_get/).click();
    await detail(page).getByText("Arguments", { exact: true }).waitFor();
    await expect.poll(() => steps(page).isVisible()).toBe(false);
    await page.goBack();
    await row(page, /^orders_get/).waitFor();
    await expect
      .poll(() =>
        page.locator("html").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
      )
      .toBe(0);
  },
);

inBrowser("a viewer sees a run and cannot change it", async () => {
  const runId = await ended([says("Done")]);
  const viewer = await addPerson(beckon, { role: "viewer" });
  const page = await open(runId, { as: viewer });
  const retry = page.getByRole("button", { name: "Retry" });
  await retry.and(page.locator("[aria-disabled=true]")).waitFor();
  await retry.hover();
  await page.getByRole("tooltip", { name: /needs the role editor/ }).waitFor();
});

inBrowser("a rejected call of a model leads to the providers first", async () => {
  const page = await open(await ended([status(401)]));
  const reason = page.getByRole("region", { name: "Why the run ended" });
  await expect
    .poll(() => reason.getByRole("link").allTextContents())
    .toEqual(["Open the providers", "Open the agent's settings"]);
});

inBrowser("an unknown run says so", async () => {
  const page = await open("run_01jdb8tq5ke5ktbqrs4n1h9m0z");
  await page.getByText("There is no run with this id.").waitFor();
  await page.getByRole("link", { name: "Show all runs" }).waitFor();
});
