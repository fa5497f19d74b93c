import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { addUsage, type GivenEntry } from "../../server/test/add-usage.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { startModelServer } from "../../server/test/model-server.ts";
import { addPerson } from "../../server/test/people.ts";
import { zoneAtNoon } from "../../server/test/zone-at-noon.ts";
import { expectAccessible } from "./accessibility.ts";
import { announceChange } from "./announce-change.ts";
import { inBrowser, openDashboard, themes, viewports } from "./dashboard.ts";

const payload = "=<img src=x onerror=alert(1)>";
const dayMs = 86_400_000;
const defaultId = "wsp_00000000000000000000000000";

const beckon = await startTestBeckon();
const { database } = beckon.db;
const owner = await addPerson(beckon, { role: "owner" });
const viewer = await addPerson(beckon, { role: "viewer" });

/**
 * Creates a workspace of the owner and the viewer, without usage. By default, its day does not end
 * soon and its date is that of UTC.
 */
async function workspace(time_zone = zoneAtNoon()) {
  const created = await owner.call("/workspaces", {
    body: { name: "Test", time_zone },
    headers: { "beckon-workspace": defaultId },
  });
  const id: string = created.body.data.id;
  await database.engine.query(
    "insert into members (user_id, workspace_id, role) values ($1, $2, 'viewer')",
    [viewer.id, id],
  );
  const agent = async (name: string): Promise<string> => {
    const body = { name, model: "demo/echo" };
    const headers = { "beckon-workspace": id };
    return (await owner.call("/agents", { body, headers })).body.data.id;
  };
  const add = (agentId: string, ...entries: GivenEntry[]) =>
    addUsage(database, { workspaceId: id, agentId }, ...entries);
  const open = (search = "", options: Parameters<typeof openDashboard>[1] = {}) =>
    openDashboard(beckon.url, { as: owner, path: `/w/${id}/usage${search}`, ...options });
  return { id, agent, add, open };
}

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);
const dateOf = (time: Date) => time.toISOString().slice(0, 10);
const rowsOf = (page: Page, table: string) =>
  page.getByRole("table", { name: table }).locator("tbody tr[data-index]");
/** Waits for a chart with this name, which the page shows a moment after the URL has changed. */
const expectChart = (page: Page, name: RegExp) => page.getByRole("img", { name }).waitFor();
/** Waits until a table has these rows. */
const expectRows = (rows: Locator, texts: readonly string[]) =>
  expect.poll(() => rows.allTextContents()).toEqual(texts);

inBrowser("a workspace that used nothing says what is metered", async () => {
  const { open } = await workspace();
  const page = await open();
  await page.getByText("Every call of a model is metered").waitFor();
  await page.getByText("No calls", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Open agents" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Open agents" }).click();
  await page.waitForURL("**/agents");
});

inBrowser("usage is shown by day and agent, and leads to the runs of a day", async () => {
  const now = new Date();
  const { id, agent, add } = await workspace(zoneAtNoon(now));
  const [desk, triage] = [await agent("Refund desk"), await agent(payload)];
  const one = { time: daysAgo(2), input_tokens: 1_000_000, output_tokens: 200_000 };
  await add(desk, { ...one, cost_micros: 3_200_000 }, { cost_micros: 50_000, input_tokens: 10 });
  await add(triage, { time: daysAgo(2), cost_micros: 1_000_000, estimated: true });
  const page = await openFromNavigation();

  await page.getByText("~$4.25", { exact: true }).waitFor();
  await page.getByText("1,000,010 in, 200,000 out").waitFor();
  await page.getByText("1 call with estimated tokens").waitFor();
  await expectChart(page, /^Cost by day: \$4\.25 in all, the most on \d+ \w{3}: \$4\.20\.$/);
  await expectRows(rowsOf(page, "Usage by agent"), [
    "Refund desk21,000,0100200,0000$3.25",
    `${payload}10000~$1.00`,
  ]);
  await expectAccessible(page);

  await page.getByRole("button", { name: "Tokens" }).click();
  await page.waitForURL("**?show=tokens");
  await expectChart(page, /^Tokens by day: 1,200,010 tokens/);
  await page.getByRole("button", { name: "Show as table" }).click();
  await page.waitForURL("**show=tokens&as=table");
  await expect.poll(() => rowsOf(page, "Usage by day").count()).toBe(30);
  await expectAccessible(page);
  await rowsOf(page, "Usage by day").nth(2).getByRole("link").click();
  const midnight = now.setUTCMinutes(0, 0, 0) - dayMs / 2;
  const from = new Date(midnight - 2 * dayMs).toISOString();
  const to = new Date(midnight - dayMs).toISOString();
  await page.waitForURL(
    (url) =>
      url.pathname.endsWith("/runs") &&
      url.searchParams.get("created_after") === from &&
      url.searchParams.get("created_before") === to,
  );

  async function openFromNavigation() {
    const opened = await openDashboard(beckon.url, { as: viewer, path: `/w/${id}/runs` });
    await opened.getByRole("link", { name: "Usage" }).click();
    await opened.waitForURL(`**/w/${id}/usage`);
    return opened;
  }
});

inBrowser(
  "bars show their day to the pointer, and have one colour for each large group",
  async () => {
    const { agent, add, open } = await workspace();
    for (let index = 0; index < 7; index++)
      await add(await agent(`Agent ${index}`), {
        time: daysAgo(1),
        cost_micros: 1_000_000 * (index + 1),
      });
    const page = await open();
    await page.locator("svg rect.fill-chart-5").waitFor();
    // Yesterday's bar has a part for each of the five largest groups, which are agents here, and
    // one part in the colour `edge` for the sum of the other two.
    await page.locator("svg rect.fill-edge").waitFor();
    await expect.poll(() => page.locator("svg[role=img] rect").count()).toBe(6);
    await page.locator(`a[title*="$28.00"]`).hover();
    await page.getByText(/\$28\.00 · Agent 6 \$7\.00 · Agent 5 \$6\.00/).waitFor();
  },
);

inBrowser("a group narrows the report, and filters can be cleared", async () => {
  const { agent, add, open } = await workspace();
  const desk = await agent("Refund desk");
  await add(
    desk,
    { model: "large", cost_micros: 700_000, principal: "key:key_gone" },
    { model: "small", cost_micros: 20_000 },
  );
  await add(await agent("Other"), { cost_micros: 90_000, model: "other" });
  const page = await open();
  await rowsOf(page, "Usage by agent").getByRole("link", { name: "Refund desk" }).click();
  await page.waitForURL(`**/usage?agent_id=${desk}&group_by=model`);
  await expectRows(rowsOf(page, "Usage by model"), [
    "demo/large10000$0.70",
    "demo/small10000$0.02",
  ]);
  await page.getByRole("button", { name: "Caller" }).click();
  await page.waitForURL("**&group_by=caller");
  await rowsOf(page, "Usage by caller").getByText("key_gone").waitFor();
  await rowsOf(page, "Usage by caller").getByText("Agent token").waitFor();
  await page.getByRole("button", { name: "Remove filter Agent" }).click();
  await page.getByText("$0.81", { exact: true }).first().waitFor();
  await page.goto(`${page.url()}&tag=none`);
  await page.getByText("Nothing was used in this period that matches the filters.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("$0.81", { exact: true }).first().waitFor();
});

inBrowser("a named range without usage can be cleared, too", async () => {
  const { agent, add, open } = await workspace();
  await add(await agent("Refund desk"), { time: daysAgo(20), cost_micros: 700_000 });
  const page = await open("?range=7");
  // By day and by agent. No text says that filters are set.
  const empty = page.getByText("Nothing was used in this period.", { exact: true });
  await expect.poll(() => empty.count()).toBe(2);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("$0.70", { exact: true }).first().waitFor();
});

inBrowser("old figures have the server's time, also if the browser's clock is slow", async () => {
  const { id, agent, add, open } = await workspace();
  await add(await agent("Refund desk"), { cost_micros: 700_000 });
  const page = await open();
  await page.addInitScript("const now = Date.now; Date.now = () => now() - 3 * 3_600_000;");
  await page.reload();
  await page.getByText("$0.70", { exact: true }).first().waitFor();
  const failure = { ok: false, error: "It failed.", code: "bad_request" };
  await page.route(/\/usage\?/, (route) => route.fulfill({ status: 400, json: failure }));
  await announceChange(page, [id]);
  // In the time zone of the workspace, it was between 12:00 and 13:00 when the test began.
  await page.getByText(/^This is usage as of 1[23]:\d\d:\d\d\.$/).waitFor();
});

inBrowser(
  "the agent of the report is found by name, or entered by id if it was deleted",
  async () => {
    const { agent, add, open } = await workspace();
    const desk = await agent("Refund desk");
    await add(desk, { cost_micros: 700_000 });
    await agent("Other");
    const page = await open();
    const choose = async () => {
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await page.getByRole("menuitem", { name: "Agent" }).click();
    };
    await choose();
    await page.getByRole("textbox", { name: "Search agents" }).fill("refund");
    await page.getByRole("button", { name: "Refund desk", exact: true }).click();
    await page.waitForURL(new RegExp(`agent_id=${desk}`));
    await page.getByRole("button", { name: "Remove filter Agent" }).click();
    await choose();
    await page.getByRole("textbox", { name: "Agent id" }).fill("agt_deleted");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL(/agent_id=agt_deleted/);
  },
);

inBrowser("two presses before the page is rendered are both in the URL", async () => {
  const { agent, add, open } = await workspace();
  await add(await agent("Refund desk"), { cost_micros: 700_000 });
  const page = await open();
  await rowsOf(page, "Usage by agent").first().waitFor();
  await page.evaluate(`for (const name of ["Tokens", "Caller"])
    [...document.querySelectorAll("button")].find((each) => each.textContent === name).click();`);
  await page.waitForURL(/group_by=caller/);
  await expect.poll(() => new URL(page.url()).searchParams.get("show")).toBe("tokens");
  await rowsOf(page, "Usage by caller").first().waitFor();
});

inBrowser("the time range is chosen by name or by its days", async () => {
  const now = new Date();
  const { agent, add, open } = await workspace(zoneAtNoon(now));
  const dayBefore = (days: number) => dateOf(new Date(now.getTime() - days * dayMs));
  const desk = await agent("Refund desk");
  await add(desk, { time: daysAgo(60), cost_micros: 5_000_000 }, { cost_micros: 1_000_000 });
  const page = await open();
  await page.getByText("$1.00", { exact: true }).first().waitFor();
  await expect.poll(() => page.getByLabel("First day").inputValue()).toBe(dayBefore(29));
  await page.getByLabel("Time", { exact: true }).selectOption("Last 90 days");
  await page.getByText("$6.00", { exact: true }).first().waitFor();
  // The URL has the name and not its days, so that a bookmark shows the last 90 days on each day.
  await expect.poll(() => new URL(page.url()).search).toBe("?range=90");
  await expect.poll(() => page.getByLabel("First day").inputValue()).toBe(dayBefore(89));
  const day = dayBefore(30);
  await page.getByLabel("Last day").fill(day);
  await page.getByLabel("Last day").press("Enter");
  await page.getByText("$5.00", { exact: true }).first().waitFor();
  await expect.poll(() => page.getByLabel("Time", { exact: true }).inputValue()).toBe("custom");
  await page.getByText("Metered since").waitFor();
  // The first day is now after the last day, so the page shows an error.
  await page.getByLabel("First day").fill(dayBefore(0));
  await page.getByLabel("First day").press("Enter");
  await page.getByText("query parameter from must not be after to.").first().waitFor();
});

inBrowser("a day that is typed while the report loads is not lost", async () => {
  const { agent, add, open } = await workspace();
  await add(await agent("Refund desk"), { cost_micros: 1_000_000 });
  const page = await open();
  await page.getByText("$1.00", { exact: true }).first().waitFor();
  const loaded = Promise.withResolvers<void>();
  await page.route(/group_by=day/, async (route) => {
    await loaded.promise;
    await route.continue();
  });
  await page.getByLabel("Time", { exact: true }).selectOption("Last 90 days");
  const lastDay = page.getByLabel("Last day");
  await expect.poll(() => lastDay.inputValue()).toBe("");
  const day = dateOf(daysAgo(30));
  await lastDay.fill(day);
  loaded.resolve();
  await page.getByText("$1.00", { exact: true }).first().waitFor();
  await page.getByText("Metered since").waitFor();
  await lastDay.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("to")).toBe(day);
});

inBrowser("an unknown cost is called unknown, with the reason", async () => {
  const { agent, add, open } = await workspace();
  const [known, unknown] = [await agent("Known"), await agent("Unknown")];
  await add(unknown, { cost_micros: null, input_tokens: 500, time: daysAgo(1) });
  const page = await open();
  await page.getByText("The cost is unknown: models were called for which no price").waitFor();
  await expect.poll(() => page.getByText("$0").count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show tokens" }).click();
  await page.waitForURL("**?show=tokens");

  await add(known, { cost_micros: 250_000, time: daysAgo(1) }, { cost_micros: null });
  await page.goto(page.url().replace("?show=tokens", ""));
  await page.getByText("2 of 3 calls have no known price").waitFor();
  await page.getByText("A hatched mark above a bar:").waitFor();
  await expectChart(page, /^Cost by day: at least \$0\.25/);
  const rows = rowsOf(page, "Usage by agent");
  await expectRows(rows.locator("td:last-child"), ["at least ≥ $0.25", "unknown"]);
  await expect
    .poll(() => rows.nth(1).getByText("unknown", { exact: true }).getAttribute("title"))
    .toBe("No price is known for the model of this call.");
});

inBrowser("it says if there are more groups than it shows", async () => {
  const { agent, add, open } = await workspace();
  const callers = Array.from({ length: 5_001 }, (_, number) => ({
    principal: `key:key_${number}`,
  }));
  await add(await agent("Refund desk"), ...callers);
  const page = await open("?group_by=caller");
  await page.getByText("There are more callers than these 5,000").waitFor();
  await page.getByText("5,001", { exact: true }).first().waitFor();
});

inBrowser("runs and their steps say what they cost, or why that is unknown", async () => {
  const model = await startModelServer();
  const { name } = await beckon.createProvider(model.url, "priceless");
  const unknown = await beckon.createAgent({ name: "Without price", model: `${name}/large` });
  const { run_id: runId } = (await beckon.invoke(unknown, "Hello")).body;
  await beckon.invoke(await beckon.createAgent({ name: "For free" }), "Hello");
  await model.close();
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${defaultId}/runs` });
  const row = (agent: string) => page.getByRole("row").filter({ hasText: agent });
  await row("For free").getByText("$0.00", { exact: true }).waitFor();
  await page.getByText(/ · cost unknown$/).waitFor();
  const cell = row("Without price").getByText("unknown", { exact: true });
  await expect
    .poll(() => cell.getAttribute("title"))
    .toMatch(/^A model of this run has no known price/);

  await page.goto(`${beckon.url}/w/${defaultId}/runs/${runId}`);
  // The page says why the cost is unknown: in the facts of the run, and in those of its model call.
  const reasons = page.getByText("– no known price for priceless/large", { exact: true });
  await reasons.nth(1).waitFor();
  await expect.poll(() => reasons.count()).toBe(2);
  await expect.poll(() => page.getByText("$0").count()).toBe(0);
  await expectAccessible(page);
});

inBrowser("what is shown is saved as CSV", async () => {
  const { agent, add, open } = await workspace();
  await add(await agent(payload), { cost_micros: 7 });
  const page = await open("", { viewport: viewports.narrow });
  const saved = page.waitForEvent("download");
  const button = page.getByRole("button", { name: "Download CSV" });
  await button.click();
  const file = await saved;
  expect(file.suggestedFilename()).toMatch(/^beckon-usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
  const [header, line] = (await readFile(await file.path(), "utf8")).split("\r\n");
  // Excel reads the file as UTF-8 because of the byte order mark.
  expect(header).toMatch(/^\uFEFFday,agent_id,agent_name,entries,/);
  expect(line).toContain(`,'${payload},1,`);

  // A report that the API rejects says why.
  await page.route(/format=csv/, (route) =>
    route.fulfill({ status: 400, json: { ok: false, error: "Shorten it.", code: "bad_request" } }),
  );
  await button.click();
  await page.getByText("The usage was not downloaded.", { exact: true }).waitFor();
  await page.getByText("Shorten it.", { exact: true }).waitFor();
});

inBrowser("a failure says what happened, keeps what was read, and can be repeated", async () => {
  const { agent, add, open } = await workspace();
  await add(await agent("Refund desk"), { cost_micros: 1_000_000 });
  const page = await open("?from=yesterday");
  await page.getByText("Usage could not be loaded.").waitFor();
  await page
    .getByText(/query parameter from must be a date/)
    .first()
    .waitFor();
  await expectAccessible(page);
  const failure = { ok: false, error: "The report is too large.", code: "bad_request" };
  const ofGroup = /\/usage\?.*agent_id=/;
  await page.route(ofGroup, (route) => route.fulfill({ status: 400, json: failure }));
  await page.getByLabel("Time", { exact: true }).selectOption("Last 7 days");
  await page.getByText("$1.00", { exact: true }).first().waitFor();
  // Without the report of a group, its usage would be shown as that of the others.
  await page.getByText("Usage by day and agent could not be loaded.").waitFor();
  expect(await page.getByRole("img", { name: /^Cost by day/ }).count()).toBe(0);
  await page.unroute(ofGroup);
  await page.getByRole("button", { name: "Retry" }).click();
  await expectChart(page, /^Cost by day/);
});

for (const theme of themes)
  inBrowser(`it fits a phone, in the ${theme} theme`, async () => {
    const { agent, add, open } = await workspace();
    const long = `${"Quarterly reconciliation ".repeat(7)}of all`;
    for (const name of [long, "مكتب الاسترداد 👩🏽‍💻"])
      await add(await agent(name), { cost_micros: 1_234_567_890_123, input_tokens: 1_000_000_000 });
    for (const search of ["", "?as=table", "?group_by=caller&show=tokens"]) {
      const page = await open(search, { viewport: viewports.narrow, theme });
      await page.getByText("2,000,000,000 in, 0 out").waitFor();
      if (search === "") await expectAccessible(page);
      await expect
        .poll(async () => [search, await page.evaluate("document.documentElement.scrollWidth")])
        .toEqual([search, viewports.narrow.width]);
      await page.close();
    }
  });
