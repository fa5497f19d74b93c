import type { Page } from "playwright-core";
import { expect } from "vitest";
import { addUsage, type GivenEntry } from "../../server/test/add-usage.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson } from "../../server/test/people.ts";
import { zoneAtNoon } from "../../server/test/zone-at-noon.ts";
import { expectAccessible } from "./accessibility.ts";
import { announceChange } from "./announce-change.ts";
import { chooseAgent } from "./choose-agent.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { reloadWithStream } from "./live-stream.ts";

const defaultId = "wsp_00000000000000000000000000";

const beckon = await startTestBeckon();
const { database } = beckon.db;
const owner = await addPerson(beckon, { role: "owner" });
const viewer = await addPerson(beckon, { role: "viewer" });

/** Creates a workspace of the owner and the viewer, with an agent. Its day does not end soon. */
async function workspace() {
  const here = (id: string) => ({ headers: { "beckon-workspace": id } });
  const body = { name: "Test", time_zone: zoneAtNoon() };
  const created = await owner.call("/workspaces", { body, ...here(defaultId) });
  const id: string = created.body.data.id;
  await database.engine.query(
    "insert into members (user_id, workspace_id, role) values ($1, $2, 'viewer')",
    [viewer.id, id],
  );
  const call = async (path: string, body?: unknown, method?: string) => {
    const options = { body, ...here(id), ...(method === undefined ? {} : { method }) };
    const answer = await owner.call(path, options);
    expect(answer.status).toBeLessThan(300);
    return answer.body?.data;
  };
  const agent: { id: string } = await call("/agents", { name: "Refund desk", model: "demo/echo" });
  const spend = (...entries: GivenEntry[]) =>
    addUsage(database, { workspaceId: id, agentId: agent.id }, ...entries);
  const open = (search = "", options: Parameters<typeof openDashboard>[1] = {}) =>
    openDashboard(beckon.url, { as: owner, path: `/w/${id}/plan${search}`, ...options });
  return { id, agent, call, spend, open };
}

const list = (page: Page) => page.getByRole("list", { name: "Ceilings" }).getByRole("listitem");
const meter = (page: Page, name: RegExp) => page.getByRole("img", { name });

inBrowser("a workspace without limits shows what it used, and that nothing limits it", async () => {
  const { spend, open } = await workspace();
  await spend({ input_tokens: 1_000, output_tokens: 234, cost_micros: 50_000 });
  const page = await open();
  await page.getByText("1,234 used · unlimited").waitFor();
  await page.getByText("$0.05 used · unlimited").waitFor();
  await spend({ cost_micros: null });
  await page.reload();
  await page.getByText("at least $0.05 used · unlimited").waitFor();
  await page.getByText("A ceiling stops runs when").waitFor();
  await expect
    .poll(() => page.getByRole("region", { name: "Plan" }).getByText("unlimited").count())
    .toBe(5);
  await expectAccessible(page);
});

inBrowser("a cost of which nothing is known is shown as unknown, not as $0", async () => {
  const { spend, open } = await workspace();
  await spend({ input_tokens: 5, cost_micros: null });
  const page = await open();
  await page.getByText("unknown · unlimited").waitFor();
});

inBrowser(
  "the plan shows what is used and left of each allowance, and what comes next",
  async () => {
    const { id, spend, open } = await workspace();
    await spend({ input_tokens: 600, output_tokens: 150 });
    const plan = { name: `small-${id.slice(-8)}`, tokens: 1_000 };
    expect((await beckon.call("/plans", { body: plan })).status).toBe(201);
    const set = (body: object) => beckon.call(`/workspace-plans/${id}`, { method: "PATCH", body });
    await set({ plan: plan.name });
    await set({ plan: "unlimited", takes_effect: "period_end" });
    const page = await open();
    await meter(page, /^750 used, 250 left of 1,000$/).waitFor();
    await page.getByText("750 used · 250 left").waitFor();
    await page.getByText(/The plan changes to unlimited on \d+ \w{3}/).waitFor();
    await page.getByText(plan.name).waitFor();
    await page.getByText(/that the workspace set counts only for models without such/).waitFor();
    await database.engine.query("update budgets set refused = true where workspace_id = $1", [id]);
    await page.reload();
    await meter(page, /^750 used, 250 left of 1,000, a call did not fit$/).waitFor();
  },
);

inBrowser("a ceiling is set, raised and deleted", async () => {
  const { agent, spend, open, call } = await workspace();
  await spend({ cost_micros: 400_000 });
  const page = await open();
  await page.getByRole("button", { name: "New ceiling" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("For").selectOption("agent");
  await dialog.getByRole("button", { name: "Set ceiling" }).click();
  await dialog.getByText("Choose one.").waitFor();
  await dialog.getByText("Fill this in.").waitFor();
  await chooseAgent(page, "Agent", "Refund desk");
  await dialog.getByLabel("Maximum cost of runs a day").fill("$5");
  await dialog.getByText("Use a number of dollars, for example 5 or 0.50.").waitFor();
  await dialog.getByLabel("Maximum cost of runs a day").fill("0.5");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Set ceiling" }).click();
  await meter(page, /^\$0\.40 spent, \$0\.10 left of \$0\.50$/).waitFor();
  await expect
    .poll(() => call(`/limits/agent/${agent.id}`))
    .toMatchObject({ limit_micros: 500_000 });
  await expectAccessible(page);

  const menu = list(page).getByRole("button", { name: /^More about the ceiling of the agent/ });
  await menu.click();
  await page.getByRole("menuitem", { name: "Raise or lower" }).click();
  await expect
    .poll(() => dialog.getByLabel("Maximum cost of runs a day").inputValue())
    .toBe("0.50");
  await dialog.getByLabel("Maximum cost of runs a day").fill("2");
  await dialog.getByLabel("Pause the agent when the ceiling is reached").check();
  await dialog.getByRole("button", { name: "Set ceiling" }).click();
  await meter(page, /^\$0\.40 spent, \$1\.60 left of \$2\.00$/).waitFor();
  await page.getByText("Pauses it").waitFor();

  await menu.click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete ceiling" }).click();
  await page.getByText("A ceiling stops runs when").waitFor();
});

inBrowser("the ceiling of a deleted agent can be deleted, but not changed", async () => {
  const { agent, call, open } = await workspace();
  await call(`/limits/agent/${agent.id}`, { limit_micros: 400_000, pauses_agent: false }, "PUT");
  await call(`/agents/${agent.id}`, undefined, "DELETE");
  // Links of runs and of the overview open the form.
  const page = await open(`?ceiling=agent:${agent.id}`);
  const reason = "It was deleted. Its ceiling can only be deleted.";
  const submit = page.getByRole("dialog").getByRole("button", { name: "Set ceiling" });
  await expect.poll(() => submit.getAttribute("aria-description")).toBe(reason);
  await page.keyboard.press("Escape");
  await list(page)
    .getByRole("button", { name: /^More about the ceiling of the agent/ })
    .click();
  const change = page.getByRole("menuitem", { name: `Raise or lower ${reason}` });
  expect(await change.getAttribute("aria-disabled")).toBe("true");
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete ceiling" }).click();
  await page.getByText("A ceiling stops runs when").waitFor();
});

inBrowser("an agent that is resumed stays paused while its ceiling is reached", async () => {
  const { id, agent, call, spend } = await workspace();
  await spend({ cost_micros: 400_000 });
  await call(`/limits/agent/${agent.id}`, { limit_micros: 400_000, pauses_agent: true }, "PUT");
  const pause = () => call(`/agents/${agent.id}/pause`, undefined, "POST");
  await pause();
  const path = `/w/${id}/agents/${agent.id}`;
  const page = await openDashboard(beckon.url, { as: owner, path });
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("Resumed, but its ceiling still pauses it.").first().waitFor();
  await page.getByText("Paused: its ceiling is reached.").waitFor();
  await pause();
  await page.goto(`${beckon.url}/w/${id}`);
  await page.getByRole("button", { name: "Resume Refund desk" }).click();
  await page.getByText("Its ceiling still pauses it.").first().waitFor();
});

inBrowser("a new ceiling for an agent that has one shows it, and keeps its pausing", async () => {
  const { agent, call, open } = await workspace();
  const path = `/limits/agent/${agent.id}`;
  await call(path, { limit_micros: 5_000_000, pauses_agent: true }, "PUT");
  const page = await open("?ceiling=new");
  const dialog = page.getByRole("dialog");
  const amount = dialog.getByLabel("Maximum cost of runs a day");
  const isPausing = dialog.getByLabel("Pause the agent when the ceiling is reached");
  await dialog.getByLabel("For").selectOption("agent");
  expect(await amount.inputValue()).toBe("");
  await chooseAgent(page, "Agent", "Refund desk");
  await dialog.getByText("This agent already has a ceiling of $5.00, which you change").waitFor();
  expect([await amount.inputValue(), await isPausing.isChecked()]).toEqual(["5", true]);
  await expectAccessible(page);
  await amount.fill("7");
  await dialog.getByRole("button", { name: "Set ceiling" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await call(path)).toMatchObject({ limit_micros: 7_000_000, pauses_agent: true });
});

inBrowser("what was typed for a new ceiling stays when an agent with one is chosen", async () => {
  const { agent, call, open } = await workspace();
  const path = `/limits/agent/${agent.id}`;
  await call(path, { limit_micros: 5_000_000 }, "PUT");
  const page = await open("?ceiling=new");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("For").selectOption("agent");
  await dialog.getByLabel("Pause the agent when the ceiling is reached").check();
  await dialog.getByLabel("Maximum cost of runs a day").fill("7");
  await chooseAgent(page, "Agent", "Refund desk");
  await dialog.getByText("This agent already has a ceiling of $5.00, which you change").waitFor();
  await dialog.getByRole("button", { name: "Set ceiling" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await call(path)).toMatchObject({ limit_micros: 7_000_000, pauses_agent: true });
});

inBrowser("a trigger is chosen after its agent", async () => {
  const { agent, call, open } = await workspace();
  const trigger = await call(`/agents/${agent.id}/triggers`, { name: "Orders" });
  const page = await open("?ceiling=new");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("For").selectOption("trigger");
  await chooseAgent(page, "Agent", "Refund desk");
  await dialog.getByLabel("Trigger", { exact: true }).selectOption({ label: "Orders" });
  await dialog.getByLabel("Maximum cost of runs a day").fill("1");
  await dialog.getByRole("button", { name: "Set ceiling" }).click();
  await list(page).getByText("Orders").waitFor();
  await expect
    .poll(() => call(`/limits/trigger/${trigger.id}`))
    .toMatchObject({ limit_micros: 1_000_000 });
});

inBrowser("a ceiling can be set for an agent that is older than the newest 200", async () => {
  const { agent, call, open } = await workspace();
  const agents = Array.from({ length: 200 }, (_, index) => ({
    name: `Newer ${index}`,
    model: "demo/echo",
  }));
  await call("/agents/import", { beckon: 1, agents });
  const page = await open("?ceiling=new");
  await page.getByLabel("For").selectOption("agent");
  await chooseAgent(page, "Agent", "Refund desk");
  await page.getByLabel("Maximum cost of runs a day").fill("3");
  await page.getByRole("button", { name: "Set ceiling" }).click();
  await list(page).getByText("Refund desk").waitFor();
  expect(await call(`/limits/agent/${agent.id}`)).toMatchObject({ limit_micros: 3_000_000 });
});

inBrowser.each([
  ["key", /\/api\/public\/keys/, "The keys could not be loaded."],
  ["agent", /\/api\/public\/agents\?/, "Agents could not be loaded."],
  ["trigger", /\/agents\/agt_\w+\/triggers/, "The triggers could not be loaded."],
] as const)(
  "a choice of what a ceiling applies to that fails can be retried: %s",
  async (...row) => {
    const [scope, url, title] = row;
    const { open, agent, call } = await workspace();
    await call(`/agents/${agent.id}/triggers`, { name: "Orders" });
    await call("/keys", { name: "Shop", scopes: ["runs:read"] });
    const page = await open("?ceiling=new");
    const failed = { ok: false, error: "It failed.", code: "internal" };
    await page.route(url, (route) => route.fulfill({ status: 500, json: failed }));
    await page.getByLabel("For").selectOption(scope);
    if (scope === "trigger") await chooseAgent(page, "Agent", "Refund desk");
    if (scope === "agent") await page.getByRole("button", { name: "Agent: not chosen" }).click();
    await page.getByText(title).waitFor();
    await page.unroute(url);
    await page.getByRole("button", { name: "Retry" }).click();
    if (scope === "agent") await page.getByRole("button", { name: "Refund desk" }).click();
    else await page.getByRole("option", { name: /Orders|Shop/ }).waitFor({ state: "attached" });
    await page.getByText(title).waitFor({ state: "detached" });
  },
);

inBrowser("a viewer sees the limits and cannot change them", async () => {
  const { agent, call, open } = await workspace();
  await call(`/limits/agent/${agent.id}`, { limit_micros: 1_000_000 }, "PUT");
  const page = await open(`?ceiling=agent:${agent.id}`, { as: viewer });
  await list(page).getByText("Refund desk").waitFor();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  const button = page.getByRole("button", { name: "New ceiling" });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
});

inBrowser("a run that a ceiling stopped says so, and leads to where it is raised", async () => {
  const { id, agent, call, spend } = await workspace();
  await spend({ cost_micros: 2_000_000 });
  await call(`/limits/agent/${agent.id}`, { limit_micros: 1_000_000 }, "PUT");
  const started = await owner.call(`/agents/${agent.id}/invoke`, {
    body: { input: "Hello" },
    headers: { "beckon-workspace": id },
  });
  expect([started.status, started.body.code]).toEqual([500, "ceiling_reached"]);
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${id}/runs/${started.body.run_id}`,
  });
  await page.getByText(/The ceiling of the agent: \$2\.00 of \$1\.00 used, resets/).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Raise the ceiling" }).click();
  await page.waitForURL(`**/plan?ceiling=agent:${agent.id}`);
  await page.getByRole("dialog", { name: "Ceiling of the agent Refund desk" }).waitFor();
});

inBrowser("a page of an agent shows at once that its ceiling pauses it, or no longer", async () => {
  const { id, agent, call, spend } = await workspace();
  await spend({ cost_micros: 2_000_000 });
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${id}/agents/${agent.id}/playground`,
  });
  const { sendEvents } = await reloadWithStream(page);
  const plan = await page.context().newPage();
  const dialog = plan.getByRole("dialog");
  const raise = async () => {
    await dialog.getByLabel("Maximum cost of runs a day").fill("5");
    await dialog.getByRole("button", { name: "Set ceiling" }).click();
  };
  const remove = () => plan.getByRole("button", { name: "Delete ceiling" }).click();
  for (const [act, change] of [
    ["", raise],
    ["&act=delete", remove],
  ] as const) {
    await page.getByText("Active", { exact: true }).waitFor();
    const body = { limit_micros: 1_000_000, pauses_agent: true };
    await call(`/limits/agent/${agent.id}`, body, "PUT");
    await sendEvents([{ type: "usage.threshold", agent_id: agent.id, run_id: null, data: {} }]);
    await page.getByText("Paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).hover();
    await page.getByText("The agent is paused by its ceiling.").first().waitFor();
    await plan.goto(`${beckon.url}/w/${id}/plan?ceiling=agent:${agent.id}${act}`);
    await change();
  }
  await page.getByText("Active", { exact: true }).waitFor();
});

inBrowser("the overview names a ceiling that is near", async () => {
  const { id, agent, call, spend } = await workspace();
  await spend({ cost_micros: 900_000 });
  await call(`/limits/agent/${agent.id}`, { limit_micros: 1_000_000 }, "PUT");
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${id}` });
  await page.getByText("is near its ceiling").waitFor();
  await page.getByText("$0.90 of $1.00 spent today").waitFor();
});

inBrowser("a person who cannot raise a ceiling learns which role that needs", async () => {
  const { id, agent, call, spend } = await workspace();
  await spend({ cost_micros: 900_000 });
  await call(`/limits/agent/${agent.id}`, { limit_micros: 1_000_000 }, "PUT");
  const page = await openDashboard(beckon.url, { as: viewer, path: `/w/${id}` });
  // Until the overview knows that there are no runs, the button is at another place.
  await page.getByText("Each call of an agent is a run").waitFor();
  await page.getByRole("button", { name: "Raise the ceiling" }).hover();
  await page.getByRole("tooltip", { name: "This needs the role admin." }).waitFor();
});

inBrowser("an owner of default creates a plan and puts a workspace on it", async () => {
  const { id, call } = await workspace();
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${defaultId}/plan` });
  await page.getByRole("button", { name: "New plan" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create plan" }).click();
  await dialog.getByText("Use 1 to 63 of a-z").waitFor();
  const name = `team-${id.slice(-8)}`;
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Tokens").fill("5000");
  await dialog.getByLabel("Cost").fill("12.50");
  // The notes of voice and browser time.
  expect(await dialog.getByText("Not used yet.").count()).toBe(2);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create plan" }).click();
  const row = page.getByRole("table", { name: "Plans", exact: true }).getByRole("row", { name });
  await row.getByText("$12.50").waitFor();

  const workspaces = page.getByRole("table", { name: "Plans of workspaces" });
  await workspaces.getByRole("button", { name: "Change the plan of Test" }).first().click();
  const when = dialog.getByRole("group", { name: "Takes effect" });
  const plan = dialog.getByLabel("Plan", { exact: true });
  await plan.waitFor();
  expect(await when.count()).toBe(0);
  await plan.selectOption(name);
  await when.getByRole("radio", { name: /^Now/, checked: true }).waitFor();
  await dialog.getByLabel("Months begin on").selectOption("15");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Change plan" }).click();
  await workspaces.getByText(name).waitFor();
  await expect.poll(() => call("/plan")).toMatchObject({ plan: name, anchor_day: 15 });
});

/** Plans a change of a new workspace's plan, and opens the list of plans. */
async function openPlanned() {
  const { id, call } = await workspace();
  const name = `early-${id.slice(-8)}`;
  expect((await beckon.call("/plans", { body: { name, tokens: 1_000 } })).status).toBe(201);
  const set = (body: object) => beckon.call(`/workspace-plans/${id}`, { method: "PATCH", body });
  await set({ plan: name });
  await set({ plan: "unlimited", takes_effect: "period_end" });
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${defaultId}/plan` });
  const row = page.getByRole("table", { name: "Plans of workspaces" }).getByRole("row", { name });
  return { call, name, set, page, row };
}

inBrowser("a planned change is kept with another first day, and can be cancelled", async () => {
  const { call, name, page, row } = await openPlanned();
  const change = row.getByRole("button", { name: "Change the plan of Test" });
  const dialog = page.getByRole("dialog");
  const save = dialog.getByRole("button", { name: "Change plan" });
  await change.click();
  await dialog.getByLabel("Months begin on").selectOption("15");
  await save.click();
  await dialog.waitFor({ state: "detached" });
  const planned = { plan: name, next_plan: { plan: "unlimited" }, anchor_day: 15 };
  expect(await call("/plan")).toMatchObject(planned);

  await row.getByText("Day 15").waitFor();
  await change.click();
  await expect.poll(() => save.getAttribute("aria-disabled")).toBe("true");
  await dialog.getByLabel("Cancel the planned change to unlimited").check();
  await expectAccessible(page);
  await save.click();
  await dialog.waitFor({ state: "detached" });
  expect(await call("/plan")).toMatchObject({ plan: name, next_plan: null, anchor_day: 15 });
});

/** Opens the form of a workspace, and selects to cancel the planned change of its plan. */
async function cancelPlanned() {
  const { call, set, page, row } = await openPlanned();
  await row.getByRole("button", { name: "Change the plan of Test" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/or at once if the present plan limits nothing/).waitFor();
  const cancel = dialog.getByLabel("Cancel the planned change to unlimited");
  await cancel.check();
  const save = () => dialog.getByRole("button", { name: "Change plan" }).click();
  const saveAnotherDay = async () => {
    await dialog.getByText("The plan has changed meanwhile.").waitFor();
    expect(await cancel.isDisabled()).toBe(true);
    await dialog.getByLabel("Months begin on").selectOption("15");
    await save();
    await dialog.waitFor({ state: "detached" });
    expect(await call("/plan")).toMatchObject({ plan: "unlimited", anchor_day: 15 });
  };
  return { page, dialog, set, call, save, saveAnotherDay };
}

inBrowser("a planned change that took effect meanwhile cannot be cancelled", async () => {
  const { page, set, saveAnotherDay } = await cancelPlanned();
  await set({ plan: "unlimited" });
  await announceChange(page, [defaultId, "plans"]);
  await saveAnotherDay();
});

inBrowser(
  "a planned change that took effect unnoticed is not reverted by cancelling it",
  async () => {
    const { dialog, set, call, save, saveAnotherDay } = await cancelPlanned();
    await set({ plan: "unlimited" });
    await save();
    await dialog.getByRole("alert").getByText("Nothing was saved: the planned change").waitFor();
    expect(await call("/plan")).toMatchObject({ plan: "unlimited", next_plan: null });
    await saveAnotherDay();
  },
);
