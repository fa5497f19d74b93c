import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

/** Tests that the dashboard can be used without a mouse. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const agent = await beckon.createAgent({ name: "Refund desk" });
await beckon.invoke(agent, "An earlier run");

const maxTabs = 60;

const hasFocus = (target: Locator) =>
  target.evaluate((element) => element.matches(":focus"), undefined, { timeout: 10_000 });
const expectFocus = (target: Locator) => expect.poll(() => hasFocus(target)).toBe(true);

const expectFocusWithin = (page: Page, target: Locator) =>
  expect.poll(() => target.and(page.locator(":focus-within")).count()).toBe(1);

/** Presses Tab, or Shift+Tab, until the element has the focus. */
async function tabTo(page: Page, target: Locator, key = "Tab"): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; !(await hasFocus(target)); tabs++) {
    if (tabs === maxTabs) throw new Error(`not within ${maxTabs} presses of ${key}: ${target}`);
    await page.keyboard.press(key);
  }
}

/**
 * Disables the timer after which the page forgets the first key of a shortcut, and loads the page
 * again. On a busy machine, a test can need more than the 3 seconds of this timer.
 */
async function disableKeyTimer(page: Page): Promise<void> {
  await page.addInitScript(`const wait = setTimeout;
    setTimeout = (act, ms, ...rest) => (ms === 3000 ? 0 : wait(act, ms, ...rest));`);
  await page.reload();
}

async function signInByKeys(): Promise<Page> {
  const page = await openDashboard(beckon.url, { path: "/sign-in" });
  await disableKeyTimer(page);
  await expectFocus(page.getByLabel("E-mail"));
  await page.keyboard.type(owner.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(owner.password);
  await page.keyboard.press("Enter");
  await page.getByTitle("Live", { exact: true }).waitFor();
  return page;
}

async function openAgentByPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+K");
  await expectFocus(page.getByRole("combobox", { name: "Find, go and act" }));
  await page.keyboard.type("refund");
  await page.getByRole("option", { name: "Refund desk", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/agents/${agent.id}/playground`);
  // The URL changes before the playground is loaded. Until then the page shows the overview, whose
  // live list also has a button "Pause".
  await expectFocus(field(page, "Message"));
}

/** Matches the URLs of the requests in which the palette searches agents for the typed text. */
const agentSearch = /\/agents\?.*search=/;

/** Opens the overview, then the command palette. */
async function openPalette(): Promise<Page> {
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}` });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.keyboard.press("Control+K");
  await expectFocus(page.getByRole("combobox", { name: "Find, go and act" }));
  return page;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const tab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Agent" }).getByRole("link", { name });

inBrowser("by keys alone an agent is found, changed and run, and its run is opened", async () => {
  const page = await signInByKeys();
  await openAgentByPalette(page);

  await tabTo(page, tab(page, "Settings"));
  await page.keyboard.press("Enter");
  // The playground has a field with this name, too.
  await field(page, "Message").waitFor({ state: "detached" });
  await tabTo(page, field(page, "Instructions"));
  await page.keyboard.type("Answer in one word.");
  await tabTo(page, button(page, "Save"));
  await page.keyboard.press("Enter");
  await page.getByText("Saved v2").waitFor();
  const { body: saved } = await beckon.call(`/agents/${agent.id}`);
  expect(saved.data.instructions).toBe("Answer in one word.");

  await tabTo(page, tab(page, "Playground"), "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/playground");
  await tabTo(page, field(page, "Message"));
  await page.keyboard.type("A run by keys");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Succeeded").waitFor();

  // Leaves the field with Tab, because in a field the keys g and r would be text.
  await page.keyboard.press("Tab");
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.waitForURL("**/runs");
  const row = (input: string) => page.getByRole("link", { name: input });
  await row("An earlier run").waitFor();
  for (const [key, input] of [
    ["j", "A run by keys"],
    ["j", "An earlier run"],
    ["k", "A run by keys"],
  ] as const) {
    await page.keyboard.press(key);
    await expectFocus(row(input));
  }
  await page.keyboard.press("Enter");
  const { body: runs } = await beckon.call(`/agents/${agent.id}/runs`);
  expect(runs.data[0].input).toBe("A run by keys");
  await page.waitForURL(`**/runs/${runs.data[0].id}`);
});

inBrowser("Escape closes a dialog and returns the focus; ? lists the keys", async () => {
  const page = await signInByKeys();
  await openAgentByPalette(page);
  const pause = button(page, "Pause");
  await tabTo(page, pause);
  await page.keyboard.press("Enter");
  await expectFocusWithin(page, page.getByRole("dialog", { name: "Pause Refund desk?" }));
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expectFocus(pause);

  const more = button(page, "More about this agent");
  await tabTo(page, more);
  await page.keyboard.press("Enter");
  await expectFocus(page.getByRole("menuitem").first());
  await page.keyboard.press("End");
  await expectFocus(page.getByRole("menuitem", { name: "Delete" }));
  await page.keyboard.press("Enter");
  await expectFocusWithin(page, page.getByRole("alertdialog"));
  await page.keyboard.press("Escape");
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  await expectFocus(more);

  await page.keyboard.press("Control+K");
  await expectFocus(page.getByRole("combobox", { name: "Find, go and act" }));
  await page.keyboard.press("Escape");
  await expectFocus(more);

  await page.keyboard.press("Shift+?");
  const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  for (const does of [
    "Go to Runs",
    "Next failed step",
    "Next and previous step",
    "Run the message",
  ])
    await keys.getByText(does).waitFor();
  await page.keyboard.press("Escape");
  await keys.waitFor({ state: "detached" });
  await expectFocus(more);
});

inBrowser("the palette opens by the letter K, in Cyrillic layouts by its position", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}` });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const find = page.getByRole("combobox", { name: "Find, go and act" });
  for (const [key, code, isOpened] of [
    ["e", "KeyK", false], // Colemak
    ["k", "KeyV", true], // Dvorak
    ["л", "KeyK", true], // Cyrillic
  ] as const) {
    const init = JSON.stringify({ key, code, ctrlKey: true });
    await page.evaluate(`window.dispatchEvent(new KeyboardEvent("keydown", ${init}))`);
    if (isOpened) await find.waitFor();
    else {
      await renderFrames(page);
      expect([key, await find.count()]).toEqual([key, 0]);
    }
    await page.keyboard.press("Escape");
    await find.waitFor({ state: "detached" });
  }
});

inBrowser("keys that are typed while the palette is opening are no shortcuts", async () => {
  const path = `/w/${owner.workspaceId}`;
  const page = await openDashboard(beckon.url, { as: owner, path });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const code = await holdRequests(page, /palette-dialog.*\.js/);
  await page.keyboard.press("Control+K");
  await code.reached;
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await renderFrames(page);
  expect(new URL(page.url()).pathname).toBe(path);
  await code.release();
  await page.getByRole("combobox", { name: "Find, go and act" }).waitFor();
});

inBrowser("Enter opens the agent that is chosen in the palette while its search runs", async () => {
  const page = await openPalette();
  const option = page.getByRole("option", { name: "Refund desk" });
  await option.waitFor();
  const search = await holdRequests(page, agentSearch);
  await page.keyboard.type("refund");
  await search.reached;
  await renderFrames(page);
  expect(await option.getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/agents/${agent.id}/playground`);
  await search.release();
});

inBrowser("the palette says that nothing matches only after the search", async () => {
  const page = await openPalette();
  const search = await holdRequests(page, agentSearch);
  const palette = page.getByRole("dialog", { name: "Find, go and act" });
  await page.keyboard.type("zebra");
  await search.reached;
  await palette.getByText("Searching…").waitFor();
  await search.release();
  await palette.getByText("Nothing matches “zebra”.").waitFor();

  const failure = { ok: false, error: "The search is too long.", code: "invalid_request" };
  await page.route(agentSearch, (route) => route.fulfill({ status: 400, json: failure }));
  await page.keyboard.type("s");
  await palette
    .getByText("The agents could not be searched. The search is too long.", { exact: true })
    .waitFor();
});

async function signOutByPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+K");
  // The agents are listed above. So the option moves when they are loaded.
  await page.getByRole("option", { name: "Refund desk" }).waitFor();
  await page.getByRole("option", { name: "Sign out" }).click();
}

inBrowser("a sign-out from the palette that fails says so", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}` });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.route("**/sign-out", (route) => route.fulfill({ status: 400, json: {} }));
  await signOutByPalette(page);
  await page.getByText("You are still signed in").first().waitFor();
});

inBrowser("a sign-out without a response does not say that one is still signed in", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}` });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.route("**/sign-out", (route) => route.fulfill({ status: 504, json: {} }));
  await signOutByPalette(page);
  await page.getByText("It is not known whether you are signed out.").first().waitFor();
  await expect.poll(() => page.getByText("You are still signed in").count()).toBe(0);
});

inBrowser("a shortcut of two keys works, also if the page is rendered between them", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}/keys` });
  await disableKeyTimer(page);
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.keyboard.press("g");
  const find = page.getByTitle("Find, go and act", { exact: true });
  await find.click();
  await page.getByRole("combobox", { name: "Find, go and act" }).waitFor();
  await page.mouse.click(5, 5);
  await expectFocus(find);
  await page.keyboard.press("r");
  await page.waitForURL("**/runs");
});

inBrowser("after g, the key k opens a screen; otherwise it moves to a row", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}/runs` });
  await disableKeyTimer(page);
  const row = page.locator("[data-row-focus]").first();
  await row.waitFor();
  await page.keyboard.press("k");
  await expectFocus(row);
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.waitForURL("**/keys");
});

inBrowser("j and k stay in the table whose row has the focus", async () => {
  for (const email of ["grace@example.com", "max@example.com"])
    await beckon.call("/invitations", { body: { email, role: "viewer" } });
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${owner.workspaceId}/members`,
  });
  const rows = (table: string) =>
    page.getByRole("table", { name: table, exact: true }).locator("[data-row-focus]");
  await rows("Members").first().waitFor();
  await page.getByRole("button", { name: "Revoke" }).first().focus();
  for (const [key, row] of [
    ["j", 1],
    ["k", 0],
  ] as const) {
    await page.keyboard.press(key);
    await expectFocus(rows("Open invitations").nth(row));
  }
  await page.evaluate("document.activeElement.blur()");
  await page.keyboard.press("j");
  await expectFocus(rows("Members").first());
});
