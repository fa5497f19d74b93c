import type { Page } from "playwright-core";
import { expect } from "vitest";
import { addRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { announceChange } from "./announce-change.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { renderFrames } from "./hold-requests.ts";

/** Tests that what a person has typed is checked, and not lost without a question. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const workspace = `/w/${owner.workspaceId}`;
const agent = await beckon.createAgent({ name: "Refund desk" });
const trigger = await beckon.createTrigger(agent.id, { name: "Payments" });

const open = (path: string) => openDashboard(beckon.url, { as: owner, path: workspace + path });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const expectValue = (page: Page, name: string, value: string) =>
  expect.poll(() => field(page, name).inputValue()).toBe(value);

/** Reloads the page, and confirms that it is left with unsaved changes. */
async function reload(page: Page): Promise<void> {
  page.once("dialog", (dialog) => void dialog.accept());
  await page.reload();
}

/** Presses Escape, and keeps the dialog that asks about unsaved changes open. */
async function expectQuestion(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  const question = page.getByRole("alertdialog", { name: "Close without saving?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "detached" });
}

inBrowser("the reason of a pause is checked when one leaves it, and not lost by Esc", async () => {
  const page = await open(`/agents/${agent.id}/settings`);
  await button(page, "Pause").click();
  const reason = page.getByRole("dialog").getByLabel("Reason");
  await reason.fill("x".repeat(501));
  await page.keyboard.press("Tab");
  await page.getByText(/500/).waitFor();
  await expectQuestion(page);
  await reason.fill("Holiday");
  await button(page, "Pause agent").click();
  await button(page, "Resume").waitFor();
  expect(await page.getByRole("alertdialog").count()).toBe(0);
});

inBrowser("a new name of a trigger is not lost by Esc", async () => {
  const page = await open(`/agents/${agent.id}/triggers/${trigger.id}`);
  await button(page, "More about this trigger").click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Refunds");
  await expectQuestion(page);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Refunds" }).waitFor();
});

inBrowser("the input of a retry is checked when one leaves it", async () => {
  const runId = await addRun(beckon.db.database, {
    workspaceId: owner.workspaceId,
    agentId: agent.id,
  });
  const page = await open(`/runs/${runId}`);
  await button(page, "Retry").click();
  await page.getByRole("menuitem", { name: "With another input" }).click();
  await page.getByRole("dialog").getByLabel("Input").fill("");
  await page.keyboard.press("Tab");
  await page.getByRole("dialog").getByText("Must not be empty.").waitFor();
});

inBrowser("a new agent is kept over a reload, without secrets, until it is discarded", async () => {
  const path = "/agents/new?from=template&template=order-lookup";
  const page = await open(path);
  const name = await field(page, "Name").inputValue();
  await field(page, "Instructions").fill("Answer in one word.");
  await page.getByLabel("API key").fill("sk-0123456789");
  await reload(page);
  await expectValue(page, "Instructions", "Answer in one word.");
  await expectValue(page, "Name", name);
  expect(await page.getByLabel("API key").inputValue()).toBe("");
  expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("sk-0123456789");
  await page.getByRole("link", { name: "Cancel" }).click();
  await button(page, "Discard agent").click();
  await page.waitForURL(/\/agents$/);
  await page.goto(`${beckon.url}${workspace}${path}`);
  await field(page, "Instructions").waitFor();
  expect(await field(page, "Instructions").inputValue()).not.toBe("Answer in one word.");
});

inBrowser("an unsaved prompt prefix is kept over a reload, and saved as a change", async () => {
  const page = await open(`/agents/${agent.id}/triggers/${trigger.id}`);
  await field(page, "Prompt prefix").fill("Answer in French.");
  await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}`, {
    method: "PATCH",
    body: { prompt_prefix: "Answer in German." },
  });
  await reload(page);
  await expectValue(page, "Prompt prefix", "Answer in French.");
  await button(page, "Save prefix").click();
  await page.getByRole("dialog").getByText("Answer in German.").waitFor();
  await page.keyboard.press("Escape");
  await button(page, "Discard").click();
  await reload(page);
  await expectValue(page, "Prompt prefix", "Answer in German.");
});

inBrowser("fields grow with texts that are set, also without `field-sizing`", async () => {
  const lines = (count: number) => Array.from({ length: count }, () => "A line").join("\n");
  const { id } = await beckon.createAgent({ instructions: lines(15) });
  const page = await open(`/agents/${id}/playground`);
  // As in a browser that does not know the property.
  await page.addInitScript(`
    const supports = CSS.supports.bind(CSS);
    CSS.supports = (...condition) => condition[0] !== "field-sizing" && supports(...condition);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("textarea { field-sizing: fixed !important; }");
    document.adoptedStyleSheets = [sheet];
  `);
  await page.reload();
  const heightOf = (name: string) =>
    expect.poll(() => field(page, name).evaluate((area) => area.clientHeight));
  await heightOf("Instructions").toBeGreaterThan(250);
  await field(page, "Message").fill(lines(8));
  await heightOf("Message").toBeGreaterThan(150);
  await button(page, "Run").click();
  await heightOf("Message").toBeLessThan(100);
});

inBrowser("what is typed stays if somebody takes the right to save it", async () => {
  const { id } = await beckon.createProvider("http://127.0.0.1:9", "kept");
  await beckon.createAgent({ name: "Priced", model: "kept/large" });
  const person = await addPerson(beckon, { role: "admin" });
  const setRole = (role: string) =>
    beckon.call(`/members/${person.id}`, { method: "PATCH", body: { role } });
  for (const [path, label] of [
    ["/plan?ceiling=new", "Maximum cost of runs a day"],
    ["/prices?model=kept/large", "Output"],
    [`/providers?edit=${id}`, "Base URL"],
    ["/subscriptions?new=1", "URL"],
    [`/agents/${agent.id}/triggers?new=blank`, "Name"],
  ] as const) {
    await setRole("admin");
    const page = await openDashboard(beckon.url, { as: person, path: workspace + path });
    const typed = page.getByRole("dialog").getByLabel(label, { exact: true });
    await typed.fill("7");
    await setRole("viewer");
    const read = page.waitForResponse(/\/api\/public\/me$/);
    await announceChange(page, ["me"]);
    await read;
    await renderFrames(page);
    expect(await typed.inputValue()).toBe("7");
  }
});
