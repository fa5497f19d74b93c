import type { Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { held, says, startModelServer } from "../../server/test/model-server.ts";
import { startTargetServer } from "../../server/test/target-server.ts";
import { freePort, startProduct, temporaryFolder } from "../product.ts";
import { createOwner } from "./accounts.ts";
import { apiOf } from "./api.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { shopTool } from "./shop-tool.ts";

/** A tool and a model that respond only after the restart. */
const released = Promise.withResolvers<void>();
const shop = await startTargetServer();
shop.answer = async (_, response) => {
  await released.promise;
  response.setHeader("content-type", "application/json").end('{"status": "shipped"}');
};
const models = await startModelServer();
models.script(held(released.promise, says({ text: "The order was shipped." })));
afterAll(async () => {
  released.resolve();
  await Promise.all([shop.close(), models.close()]);
});

const settings = {
  PORT: String(await freePort()),
  BECKON_DATA_DIR: temporaryFolder(),
  BECKON_DRAIN_SECONDS: "1",
  BECKON_EGRESS_ALLOW: `${shop.host},${new URL(models.url).host}`,
};
const first = await startProduct(settings);
const { url } = first;
const demo = first.demo();
const owner = await createOwner(url, first.printed(`${url}/setup#token=`));
const api = apiOf(url, owner);

/** Starts a run of the demo agent and returns its id. */
async function startRun(): Promise<string> {
  const response = await fetch(`${url}/api/public/agents/${demo.id}/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": demo.token },
    body: JSON.stringify({ input: "Hello" }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { run_id: string }).run_id;
}

/** Waits until the feed shows these runs and no others, each once, and the newest first. */
async function expectFeed(page: Page, runIds: readonly string[]): Promise<void> {
  const lines = page.getByRole("list", { name: "Newest runs" }).getByRole("link");
  const shown = () =>
    lines.evaluateAll((links) => links.map((link) => link.getAttribute("href")?.split("/").at(-1)));
  await expect.poll(shown).toEqual(runIds.toReversed());
}

/** Opens a page, and returns it with the number of times that it was loaded again. */
async function openPage(path: string) {
  const page = await openDashboard(url, { as: owner, path: `/w/${owner.workspaceId}${path}` });
  let reloads = 0;
  page.on("domcontentloaded", () => reloads++);
  return { page, reloads: () => reloads };
}

/** Creates an agent and opens the page of a run of it that waits for the tool of the shop. */
async function openRunWithSlowTool() {
  const agent = await api("/agents", { name: "Shop", model: "demo/echo", tools: [shopTool(shop)] });
  const { run_id: runId } = await api(
    `/agents/${agent.id}/invoke`,
    { input: '/call get_order {"order_id": 4711}' },
    { headers: { prefer: "respond-async" } },
  );
  const opened = await openPage(`/runs/${runId}`);
  await steps(opened.page).filter({ hasText: "get_order" }).waitFor();
  await eventually("a call of the tool", () => shop.reached.length > 0 || undefined);
  return { ...opened, runId };
}

const steps = (page: Page) => page.getByRole("tree", { name: "Steps" }).getByRole("treeitem");
const namesOfSteps = (page: Page) => steps(page).locator("[title]").allTextContents();

/** Opens the playground of a new agent and sends a message that its model does not answer yet. */
async function openUnansweredPlayground() {
  const provider = { name: "late", kind: "openai-compatible", base_url: models.url };
  await api("/providers", provider);
  const agent = await api("/agents", { name: "Late", model: "late/scripted" });
  const opened = await openPage(`/agents/${agent.id}/playground`);
  await opened.page.getByRole("textbox", { name: "Message", exact: true }).fill("Where is it?");
  await opened.page.keyboard.press("Control+Enter");
  await eventually("a call of the model", () => models.requests.length > 0 || undefined);
  const [run] = await api(`/agents/${agent.id}/runs`);
  return { ...opened, runId: run.id, answer: opened.page.getByText("The order was shipped.") };
}

inBrowser(
  "open pages survive a restart of the server: they say that they are not live, then show everything once",
  async () => {
    const { page, reloads } = await openPage("");
    const lamp = page.getByRole("status").filter({ visible: true });
    await lamp.getByText("Live", { exact: true }).waitFor();
    const runIds = [await startRun()];
    await expectFeed(page, runIds);
    const run = await openRunWithSlowTool();
    const playground = await openUnansweredPlayground();
    const list = await openPage("/runs?status=waiting");
    await list.page.getByTitle("Live", { exact: true }).waitFor();
    runIds.push(run.runId, playground.runId);

    // When the server stops, it closes the connection. So the page shows “Reconnecting…” at once,
    // not only after 20 seconds without data. The test waits for this text while the server stops,
    // because after 45 seconds the page shows “Not live” instead.
    await Promise.all([lamp.getByText("Reconnecting…").waitFor({ timeout: 15_000 }), first.stop()]);
    await lamp.getByText(/^as of \d\d:\d\d:\d\d$/).waitFor();
    // The code of this screen is loaded, but the list of all runs was never read.
    await list.page.getByRole("link", { name: "Runs", exact: true }).click();
    await list.page.getByText("Runs could not be loaded.").waitFor();
    await startProduct(settings);
    // This run can end before the page is connected again. The page must show it nevertheless.
    runIds.push(await startRun());
    await lamp.getByText("Live", { exact: true }).waitFor({ timeout: 60_000 });
    runIds.push(await startRun(), await startRun());
    await expectFeed(page, runIds);
    await list.page.getByRole("row", { name: "Hello" }).first().waitFor({ timeout: 60_000 });

    released.resolve();
    await run.page.getByText("Succeeded").first().waitFor({ timeout: 60_000 });
    const live = await namesOfSteps(run.page);
    expect(live.filter((name) => name.includes("get_order"))).toHaveLength(1);
    await playground.page.getByText("Succeeded").waitFor({ timeout: 60_000 });
    await expect.poll(() => playground.answer.count()).toBe(1);
    const opened = [run, playground, list];
    expect([reloads(), ...opened.map((each) => each.reloads())]).toEqual([0, 0, 0, 0]);
    await run.page.reload();
    await run.page.getByText("Succeeded").first().waitFor();
    await expect.poll(() => namesOfSteps(run.page)).toEqual(live);
  },
);
