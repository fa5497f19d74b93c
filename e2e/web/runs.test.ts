import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { addRun, type GivenRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { startHeldModel } from "../../server/test/held-model.ts";
import { addPerson } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { renderFrames } from "./hold-requests.ts";

const payload = "<img src=x onerror=alert(1)><script>alert(1)</script>";

const beckon = await startTestBeckon();
const workspaceId = "wsp_00000000000000000000000000";
const owner = await addPerson(beckon, { role: "owner" });
const viewer = await addPerson(beckon, { role: "viewer" });
const desk = await beckon.createAgent({ name: "Refund desk" });
const reader = await beckon.createAgent({ name: `Reader ${payload}` });
const add = (agent: { id: string }, given: GivenRun) =>
  addRun(beckon.db.database, { workspaceId, agentId: agent.id }, given);
const filterBy = async (page: Page, label: string) => {
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: label }).click();
};
const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);

const open = (path: string, as = owner) =>
  openDashboard(beckon.url, { as, path: `/w/${workspaceId}${path}` });

const first = await add(desk, { createdAt: at(90), input: "Order 4711" });
await add(reader, { createdAt: at(80), input: payload });
await add(desk, { createdAt: at(70), status: "failed", errorMessage: "Out of tokens" });
await add(reader, { createdAt: at(60), status: "cancelled", input: "مرحبا" });

inBrowser("runs are listed with their agents, and texts of others are only texts", async () => {
  const page = await open("/runs");
  const row = page.getByRole("row", { name: `Reader ${payload} ${payload}` });
  await row.getByText(`Reader ${payload}`).waitFor();
  await row.getByText("Succeeded").waitFor();
  await expect.poll(() => page.locator("main img, main script").count()).toBe(0);
  await expectAccessible(page);
});

inBrowser("a pasted id opens its run", async () => {
  const page = await open("/runs");
  await page.getByLabel("Search runs").fill(` ${first} `);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/runs/${first}`);
});

inBrowser("a search and filters are in the URL, and can be cleared", async () => {
  const page = await open("/runs");
  await page.getByLabel("Search runs").fill("4711");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/runs?text=4711");
  await page.getByText("1 in total").waitFor();
  await page.getByLabel("Search runs").fill("");
  await page.getByText("4 in total").waitFor();

  await filterBy(page, "State");
  // The second press must add to the first one, even if the page still shows the list as it was
  // before the first press.
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await page.getByRole("button", { name: "Cancelled", exact: true }).click();
  await page.waitForURL("**/runs?status=failed%2Ccancelled");
  await page.getByText("2 in total").waitFor();
  await page.keyboard.press("Escape");

  await filterBy(page, "Agent");
  const agents = page.getByLabel("Search agents");
  await agents.fill("Refund");
  await page.keyboard.press("Escape");
  await expect.poll(() => agents.inputValue()).toBe("");
  await page.getByRole("button", { name: `Reader ${payload}` }).click();
  await page.waitForURL(`**agent_id=${reader.id}`);
  await page.getByText("1 in total").waitFor();
  await page.getByRole("row", { name: "مرحبا" }).waitFor();

  // A filter that is removed by a key passes the focus on: to the next one, else to the menu.
  const focused = (name: string) =>
    page.getByRole("button", { name, exact: true }).and(page.locator(":focus")).waitFor();
  await page.getByRole("button", { name: "Remove filter State" }).press("Enter");
  await focused("Remove filter Agent");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/runs");
  await page.getByText("4 in total").waitFor();
  await focused("Filter");
  await page.goto(`${page.url()}?text=none&status=failed&source=draft`);
  await page.getByRole("button", { name: "Clear filters" }).press("Enter");
  await page.getByText("4 in total").waitFor();
  await focused("Filter");
  await page.goto(`${page.url()}?status=failed&source=invoke`);
  await page.getByRole("button", { name: "Clear", exact: true }).press("Enter");
  await page.getByText("4 in total").waitFor();
  await focused("Filter");
});

inBrowser("the search field keeps the focus after a search, and what is typed then", async () => {
  const page = await open("/runs");
  const field = page.getByLabel("Search runs");
  await field.fill("4711");
  await page.keyboard.press("Enter");
  await page.getByText("1 in total").waitFor();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("Order");
  await page.getByText("4 in total").waitFor();
  await expect.poll(() => field.inputValue()).toBe("Order");
});

inBrowser("a range of time needs a time, and a start before its end", async () => {
  const page = await open("/runs");
  await filterBy(page, "Created");
  const apply = page.getByRole("button", { name: "Apply range" });
  await apply.click();
  await page.getByText("Choose at least one time.").waitFor();
  await page.getByLabel("From").fill("2026-01-02T10:00");
  await page.getByLabel("To").pressSequentially("01012026");
  await apply.click();
  await page.getByText("Complete or clear the time that is typed in part.").waitFor();
  await page.getByLabel("To").fill("2026-01-01T10:00");
  await apply.click();
  await page.getByText("The start must be before the end.").waitFor();
  await page.getByLabel("To").fill("2026-01-03T10:00");
  await apply.click();
  await page.waitForURL("**created_after=2026-01-02T10%3A00%3A00.000Z&created_before=**");
  await page.getByText("No run matches.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("4 in total").waitFor();
});

inBrowser("columns are chosen, kept in the URL and remembered", async () => {
  const page = await open("/runs");
  await page.getByRole("columnheader", { name: "Duration" }).waitFor();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Duration" }).click();
  await page.waitForURL(/columns=/);
  // The URL changes before the table does, so the test also waits for the table.
  await page.getByRole("columnheader", { name: "Duration" }).waitFor({ state: "detached" });
  await page.goto(`${beckon.url}/w/${workspaceId}/agents/${desk.id}/runs`);
  await page.getByText("2 in total").waitFor();
  await expect.poll(() => page.getByRole("columnheader", { name: "Duration" }).count()).toBe(0);
  await expect.poll(() => page.getByRole("columnheader", { name: "Agent" }).count()).toBe(0);
});

inBrowser("a run enters when it starts, and its row follows it to its end", async () => {
  const page = await open("/runs");
  await page.getByText("4 in total").waitFor();
  const model = await startHeldModel(beckon);
  const slow = await beckon.createAgent({ name: "Slow", model: model.model });
  const answer = beckon.invoke(slow, "While you watch");
  const row = page.getByRole("row", { name: "While you watch" });
  await row.getByText("Running").waitFor();
  model.release();
  await row.getByText("Succeeded").waitFor();
  expect((await answer).status).toBe(200);
});

/**
 * A script for a page. It stores what live regions announce, each with its politeness and a time in
 * milliseconds, in `announced`. The first text of a region that is added later counts too.
 */
const collectAnnouncements = `
  globalThis.announced = [];
  const politeness = { status: "polite", log: "polite", alert: "assertive" };
  const known = new WeakMap();
  const collect = () => {
    for (const region of document.querySelectorAll("[role=status], [role=log], [role=alert], [aria-live]")) {
      const text = region.textContent.trim();
      if (known.get(region) === text) continue;
      known.set(region, text);
      const live = region.getAttribute("aria-live") ?? politeness[region.getAttribute("role")];
      if (text !== "") announced.push({ text, live, at: performance.now() });
    }
  };
  collect();
  announced.length = 0;
  new MutationObserver(collect).observe(document.body, {
    subtree: true, childList: true, characterData: true,
  });`;

inBrowser("what a search has found is announced", async () => {
  const page = await open("/runs");
  await page.getByText(/in total/).waitFor();
  await page.evaluate(collectAnnouncements);
  const announced = () => page.evaluate<string[]>("announced.map(({ text }) => text)");
  const search = async (text: string) => {
    await page.getByLabel("Search runs").fill(text);
    await page.keyboard.press("Enter");
  };
  await search("no run has this text");
  await expect.poll(announced).toContain("No rows");
  await search("4711");
  await expect.poll(announced).toContain("1 row");
});

inBrowser("many new runs are announced politely, and not more than once in 5 seconds", async () => {
  const startMany = () =>
    Promise.all(Array.from({ length: 20 }, () => beckon.invoke(desk, "One of many")));
  const overview = await open("");
  await overview.getByTitle("Live", { exact: true }).waitFor();
  await overview.getByText("Order 4711").first().waitFor();
  await overview.evaluate(collectAnnouncements);
  await startMany();
  const { run_id: newest } = (await beckon.invoke(desk, "The newest")).body;
  await overview.locator(`a[href$="/runs/${newest}"]`).first().waitFor();

  const list = await open("/runs");
  await list.getByTitle("Live", { exact: true }).waitFor();
  await list.setViewportSize({ width: 1_440, height: 400 });
  await list.getByRole("row", { name: "The newest" }).waitFor();
  await list.mouse.move(700, 300);
  await list.mouse.wheel(0, 2_000);
  await expect.poll(() => list.evaluate("scrollY")).toBeGreaterThan(300);
  await list.evaluate(collectAnnouncements);
  await startMany();
  await list.getByRole("button", { name: "20 new runs" }).waitFor();

  for (const page of [overview, list]) {
    const announced =
      await page.evaluate<{ text: string; live: string; at: number }[]>("globalThis.announced");
    expect(announced.filter(({ live }) => live !== "polite")).toEqual([]);
    const tooSoon = announced.filter(({ at }, n) => at - (announced[n - 1]?.at ?? -5_000) < 5_000);
    expect(tooSoon).toEqual([]);
    if (page === list)
      expect(announced.map(({ text }) => text)).toEqual(["New runs have started."]);
  }
});

inBrowser("further down, new runs wait until they are asked for", async () => {
  const agent = await beckon.createAgent({ name: "Archive" });
  const yesterday = at(30 * 60).getTime();
  for (let index = 0; index < 60; index++)
    await add(agent, { createdAt: new Date(yesterday - index), input: `Old ${index}.` });
  const page = await open(`/runs?agent_id=${agent.id}`);
  await page.getByRole("row", { name: "Old 0." }).waitFor();
  // Only rows in sight are in the document, even before the second page of the list is loaded.
  await expect.poll(() => page.getByRole("row").count()).toBeLessThan(50);
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.mouse.move(700, 500);
  await page.mouse.wheel(0, 1_200);
  await page.getByText(/in total/).waitFor();
  await page.mouse.wheel(0, 1_200);
  await page.getByRole("row", { name: "Old 59." }).waitFor();
  await beckon.invoke(agent, "Came later");
  const news = page.getByRole("button", { name: "1 new run" });
  await news.waitFor();
  await expect.poll(() => page.getByRole("row", { name: "Came later" }).count()).toBe(0);
  // When the tab is shown again, the rows are read again in place. New runs still wait.
  const read = page.waitForResponse(/\/runs\?/);
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
  await (await read).finished();
  await renderFrames(page);
  expect(await page.getByRole("row", { name: "Came later" }).count()).toBe(0);
  await news.click();
  await page.getByRole("row", { name: "Came later" }).waitFor();
  await expect.poll(() => page.evaluate("scrollY")).toBe(0);
});

inBrowser("after Back, new runs wait and the rows stay where they were", async () => {
  const agent = await beckon.createAgent({ name: "Long ago" });
  const runs = await Promise.all(
    Array.from({ length: 250 }, (_, n) =>
      add(agent, { createdAt: at(60 + n), input: `Order ${n}.` }),
    ),
  );
  const page = await open(`/agents/${agent.id}/runs`);
  const row = (input: string) => page.getByRole("row", { name: input });
  await row("Order 0.").waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  await expect
    .poll(async () => {
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      return page.getByText("250 in total").count();
    })
    .toBe(1);
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
  await row("Order 125.").waitFor();
  const topOf = async (input: string) => Math.round((await row(input).boundingBox())?.y ?? -1);
  const before = await topOf("Order 125.");
  await row("Order 125.").getByRole("link").first().click();
  // The URL changes before the page leaves the list.
  await page.getByRole("button", { name: "Retry" }).waitFor();
  // Without an event, so that only Back causes reads.
  await add(agent, { createdAt: new Date(), input: "Meanwhile" });
  expect((await beckon.call(`/runs/${runs[126]}`, { method: "DELETE" })).status).toBe(204);
  const reads: string[] = [];
  page.on("request", (request) => {
    if (/\/runs\?/.test(request.url())) reads.push(request.url());
  });
  await page.goBack();
  await page.getByRole("button", { name: "1 new run" }).waitFor();
  await row("Order 126.").waitFor({ state: "detached" });
  expect(await topOf("Order 125.")).toBe(before);
  expect(await row("Meanwhile").count()).toBe(0);
  // The newest page is read, then up to 200 rows at once.
  expect(reads.length).toBeLessThanOrEqual(2);
});

inBrowser("a deletion in another tab inserts no new runs while rows are selected", async () => {
  const agent = await beckon.createAgent({ name: "Two tabs" });
  for (const input of ["One", "Two", "Three"]) await add(agent, { createdAt: at(5), input });
  const page = await open(`/agents/${agent.id}/runs`);
  await page.getByTitle("Live", { exact: true }).waitFor();
  const row = (input: string) => page.getByRole("row", { name: input });
  await row("Two").getByRole("checkbox").check();
  await beckon.invoke(agent, "Came later");
  await page.getByRole("button", { name: "1 new run" }).waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("row", { name: "One" }).getByRole("checkbox").check();
  await other.getByRole("button", { name: "Delete" }).click();
  await other.getByRole("button", { name: "Delete 1 run" }).click();
  await row("One").waitFor({ state: "detached" });
  await renderFrames(page);
  expect(await row("Came later").count()).toBe(0);
  await page.getByText("1 selected", { exact: true }).waitFor();
  await page.getByRole("button", { name: "1 new run" }).waitFor();
});

inBrowser("selected runs are deleted, and those that have not ended are kept", async () => {
  const model = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ name: "Cleaner", model: model.model });
  for (const input of ["One", "Two", "Three"]) await add(agent, { createdAt: at(5), input });
  const running = beckon.invoke(agent, "Still running");
  await model.reached(1);
  const page = await open(`/agents/${agent.id}/runs`);
  await page.getByText("4 in total").waitFor();
  await page.getByRole("row", { name: "Still running" }).getByRole("checkbox").check();
  await page.getByRole("row", { name: "Two" }).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete 1 run?" });
  await dialog.getByText("1 of the selected are not affected").waitFor();
  await dialog.getByRole("button", { name: "Delete 1 run" }).click();
  await page.getByText("1 run deleted").first().waitFor();
  await page.getByText("3 in total").waitFor();

  await page.getByRole("row", { name: "One" }).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Select all matching" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  const all = page.getByRole("alertdialog", { name: "Delete all runs that match?" });
  await all.getByText("Cleaner").waitFor();
  const confirm = all.getByRole("button", { name: "Delete all" });
  await expect.poll(() => confirm.isDisabled()).toBe(true);
  await all.getByLabel("Type “delete” to confirm").fill("delete");
  await confirm.click();
  await page.getByText("2 runs deleted").first().waitFor();
  await page.getByText("1 in total").waitFor();
  await page
    .getByRole("row", { name: "Still running" })
    .getByText("Running", { exact: true })
    .waitFor();

  await page.getByRole("row", { name: "Still running" }).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("button", { name: "Cancel 1 run" }).click();
  await page.getByRole("row", { name: "Still running" }).getByText("Cancelled").waitFor();
  model.release();
  await running;
});

inBrowser("selected runs that somebody else has deleted no longer count", async () => {
  const agent = await beckon.createAgent({ name: "Shared list" });
  for (const input of ["One", "Two", "Three"]) await add(agent, { createdAt: at(5), input });
  const page = await open(`/agents/${agent.id}/runs`);
  for (const input of ["One", "Two"])
    await page.getByRole("row", { name: input }).getByRole("checkbox").check();
  await page.getByText("2 selected", { exact: true }).waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  const remove = async (input: string) => {
    await other.getByRole("row", { name: input }).getByRole("checkbox").check();
    await other.getByRole("button", { name: "Delete" }).click();
    await other.getByRole("button", { name: "Delete 1 run" }).click();
  };
  await remove("One");
  await page.getByText("1 selected", { exact: true }).waitFor();
  const button = page.getByRole("button", { name: "Delete" });
  await button.click();
  const dialog = page.getByRole("alertdialog", { name: "Delete 1 run?" });
  await dialog.waitFor();
  expect(await dialog.getByText("of the selected are not affected").count()).toBe(0);
  await page.keyboard.press("Escape");
  await remove("Two");
  await page.getByText("0 selected", { exact: true }).waitFor();
  await button.hover();
  await page.getByRole("tooltip", { name: /no longer in this list/ }).waitFor();
});

inBrowser(
  "if the response to a deletion is lost, the page does not say that no run was deleted",
  async () => {
    const agent = await beckon.createAgent({ name: "Lost reply" });
    await add(agent, { createdAt: at(5), input: "Deleted or not" });
    const page = await open(`/agents/${agent.id}/runs`);
    await page.getByRole("row", { name: "Deleted or not" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Select all matching" }).click();
    await page.route("**/runs/delete", (route) => route.abort());
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByLabel("Type “delete” to confirm").fill("delete");
    await dialog.getByRole("button", { name: "Delete all" }).click();
    await dialog.getByRole("alert").waitFor();
    expect(await page.getByText("No run was deleted").count()).toBe(0);
  },
);

inBrowser("a search in texts has new runs after Back, and cannot be selected at once", async () => {
  const page = await open("/runs?text=4711");
  const row = (name: string) => page.getByRole("row", { name });
  await row("Order 4711").getByRole("link").first().click();
  await row("Order 4711").waitFor({ state: "detached" });
  await beckon.invoke(desk, "Also 4711");
  await page.goBack();
  await row("Also 4711").waitFor();
  await row("Order 4711").getByRole("checkbox").check();
  const all = page.getByRole("button", { name: "Select all matching" });
  await expect.poll(() => all.getAttribute("aria-disabled")).toBe("true");
});

inBrowser("a viewer sees runs and cannot change them, also on a phone", async () => {
  const page = await openDashboard(beckon.url, {
    as: viewer,
    path: `/w/${workspaceId}/runs?status=failed`,
    viewport: viewports.phone,
  });
  await page.getByText("1 in total").waitFor();
  await expect.poll(() => page.getByRole("checkbox").count()).toBe(0);
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollWidth"))
    .toBe(viewports.phone.width);
});

inBrowser("on a phone, the columns of a long table fill its width", async () => {
  const busy = await beckon.createAgent({ name: "Busy" });
  for (let n = 0; n < 45; n++) await add(busy, { createdAt: at(n), input: `Order ${n}` });
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${workspaceId}/runs?agent_id=${busy.id}`,
    viewport: viewports.phone,
  });
  await page.getByRole("row", { name: "Order 0" }).waitFor();
  const widthOf = async (locator: Locator) => (await locator.boundingBox())?.width ?? 0;
  const table = page.getByRole("table", { name: "Runs" });
  const headers = await table.locator("thead th:visible").all();
  const widths = await Promise.all(headers.map(widthOf));
  const sum = widths.reduce((total, width) => total + width, 0);
  expect(sum).toBeCloseTo(await widthOf(table), 0);
  // No time in the table, for example "16 min ago", is truncated.
  const truncated = await table
    .locator("tbody td:has(time)")
    .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
  expect(truncated).toBe(0);
});
