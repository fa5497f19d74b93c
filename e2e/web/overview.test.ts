import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { eventually } from "../../server/test/eventually.ts";
import { held, says, startModelServer, status } from "../../server/test/model-server.ts";
import { addPerson } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRendering } from "./hold-rendering.ts";
import { renderFrames } from "./hold-requests.ts";
import { reloadWithStream } from "./live-stream.ts";
import { cookieFor } from "./viewports.ts";

const payload = "<img src=x onerror=alert(1)><script>alert(1)</script>";

const beckon = await startTestBeckon();
const workspaceId = "wsp_00000000000000000000000000";
const owner = await addPerson(beckon, { role: "owner" });
const viewer = await addPerson(beckon, { role: "viewer" });

const open = (as = owner, search = "") =>
  openDashboard(beckon.url, { as, path: `/w/${workspaceId}${search}` });

inBrowser("a workspace without runs leads to its first one, and shows it", async () => {
  const page = await open();
  await page.getByRole("link", { name: "Send a message" }).waitFor();
  await expect
    .poll(() => page.getByRole("link", { name: "Send a message" }).getAttribute("href"))
    .toMatch(/\/agents\/agt_\w+\/playground$/);
  await expectAccessible(page);
  const agent = await beckon.createAgent({ name: "First" });
  expect((await beckon.invoke(agent, "Hello")).status).toBe(200);
  await page.getByRole("list", { name: "Newest runs" }).getByText("First").waitFor();
  await page.getByText("1 run in the last hour").waitFor();
});

inBrowser("a workspace without runs says so if its agents could not be read", async () => {
  const headers = { "beckon-workspace": workspaceId };
  const made = await owner.call("/workspaces", { body: { name: "Blank" }, headers });
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${made.body.data.id}/keys` });
  const url = /\/agents\?.*limit=1(&|$)/;
  const failure = { ok: false, error: "It failed.", code: "bad_request" };
  await page.route(url, (route) => route.fulfill({ status: 400, json: failure }));
  await page.getByRole("link", { name: "Overview" }).first().click();
  await page.getByText("The agents could not be loaded.").waitFor();
  await page.unroute(url);
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("link", { name: "New agent" }).waitFor();
});

inBrowser("the first run is in the feed, also if it ends before the feed is rendered", async () => {
  const to = (id: string) => ({ headers: { "beckon-workspace": id } });
  const made = await owner.call("/workspaces", { body: { name: "New" }, ...to(workspaceId) });
  const { id } = made.body.data;
  const body = { name: "Quick", model: "demo/echo" };
  const agent = (await owner.call("/agents", { body, ...to(id) })).body.data;
  const other = await openDashboard(beckon.url, { as: owner, path: `/w/${id}/runs` });
  await other.getByTitle("Live", { exact: true }).waitFor();
  const page = await other.context().newPage();
  await page.addInitScript(holdRendering);
  await page.goto(`${beckon.url}/w/${id}`);
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Send a message" }).waitFor();
  await page.evaluate("setHeld(true)");
  await owner.call(`/agents/${agent.id}/invoke`, { body: { input: "Hello" }, ...to(id) });
  // Both tabs receive the events at the same time. So when `other` shows them, `page` has received
  // them too, although its rendering is held.
  await other.getByRole("row", { name: "Hello" }).getByText("Succeeded").waitFor();
  await page.evaluate("setHeld(false)");
  await page.getByRole("list", { name: "Newest runs" }).getByText("Quick").waitFor();
});

inBrowser("the overview and the list of agents show their figures in turns", async () => {
  const agent = await beckon.createAgent({ name: "Counted" });
  expect((await beckon.invoke(agent, "Hello")).status).toBe(200);
  const page = await open();
  const main = page.getByRole("navigation", { name: "Main" });
  const row = page.getByRole("row", { name: "Counted" });
  for (let turn = 1; turn <= 2; turn++) {
    await main.getByRole("link", { name: "Overview" }).click();
    await page.getByText(/\d+ runs? in the last hour/).waitFor();
    await main.getByRole("link", { name: "Agents" }).click();
    await row.getByRole("img", { name: "1 run, 0 failed" }).waitFor();
  }
});

inBrowser("an agent that was paused while another screen was open needs attention", async () => {
  const agent = await beckon.createAgent({ name: "Paused meanwhile" });
  await beckon.invoke(agent, "Hello");
  const page = await open();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByTitle("Live", { exact: true }).waitFor();
  const main = page.getByRole("navigation", { name: "Main" });
  await page.getByText(/\d+ runs? in the last hour/).waitFor();
  await main.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  await beckon.call(`/agents/${agent.id}/pause`, { body: { reason: "Checking" } });
  // Both tabs receive the event at the same time.
  const resume = { name: "Resume Paused meanwhile" };
  await other.getByRole("button", resume).waitFor();
  // Names that were read in the last 2 seconds count as current.
  await page.evaluate("{ const now = Date.now; Date.now = () => now() + 10_000; }");
  await main.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("button", resume).waitFor();
  await beckon.call(`/agents/${agent.id}/resume`, { body: {} });
});

inBrowser("what needs attention is listed, each with what can be done about it", async () => {
  const model = await startModelServer();
  model.script([says("Fine"), status(400), status(400), says("Fine"), says("Fine"), status(400)]);
  const { name } = await beckon.createProvider(model.url, "scripted");
  const failing = await beckon.createAgent({ name: `Desk ${payload}`, model: `${name}/m` });
  for (const input of ["1", "2", "3"]) await beckon.invoke(failing, input);
  const mixed = await beckon.createAgent({ name: "Mostly fine", model: `${name}/m` });
  for (const input of ["1", "2", "3"]) await beckon.invoke(mixed, input);
  await model.close();
  await beckon.createProvider("http://127.0.0.1:9/v1", "unreachable");
  const paused = await beckon.createAgent({ name: "Resting" });
  await beckon.call(`/agents/${paused.id}/pause`, { body: { reason: payload } });

  const asViewer = await open(viewer);
  const forbidden = asViewer.getByRole("button", { name: "Resume Resting" });
  await forbidden.waitFor();
  await expect.poll(() => forbidden.getAttribute("aria-disabled")).toBe("true");

  const page = await open();
  const list = page.getByRole("list", { name: "Needs attention" });
  await list.getByText("unreachable").waitFor();
  await list.getByText("2 of 3 runs failed in the last hour").waitFor();
  const rows = list.getByRole("listitem");
  await rows.filter({ hasText: "Desk" }).getByText("is failing").waitFor();
  await rows.filter({ hasText: "Mostly fine" }).getByText("has failed runs").waitFor();
  await list.getByText(payload, { exact: true }).waitFor();
  await expect.poll(() => page.locator("main img, main script").count()).toBe(0);
  await expectAccessible(page);
  await list.getByRole("button", { name: "Resume Resting" }).click();
  await page.getByText("Resumed Resting").first().waitFor();
  await list.getByText("Resting").waitFor({ state: "detached" });
  await list.getByRole("link", { name: "Show failed" }).first().click();
  await page.waitForURL(
    `**/runs?agent_id=${failing.id}&status=failed&source=invoke,trigger&created_after=1h`,
  );
  await page.getByText("2 in total").waitFor();
});

inBrowser("the feed shows runs as they start, and stands still while it is paused", async () => {
  const agent = await beckon.createAgent({ name: "Watched" });
  const page = await open();
  const feed = page.getByRole("list", { name: "Newest runs" });
  await feed.waitFor();
  await beckon.invoke(agent, "One");
  const lines = feed.getByRole("link", { name: "Watched" });
  await lines.first().waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await beckon.invoke(agent, "Two");
  await page.getByText(/^\d new$/).waitFor();
  await expect.poll(() => lines.count()).toBe(1);
  // The feed also stands still when the tab is shown again. The list of runs is then read again if
  // it is older than two seconds.
  const reads: string[] = [];
  page.on("response", (response) => {
    if (/\/runs\?.*limit=100/.test(response.url())) reads.push(response.url());
  });
  await expect
    .poll(async () => {
      await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
      return reads.length;
    })
    .toBeGreaterThan(0);
  await renderFrames(page);
  expect(await lines.count()).toBe(1);
  await page.getByRole("button", { name: "Continue" }).click();
  await lines.nth(1).waitFor();

  await page.getByLabel("Show").selectOption("Failed");
  await page.waitForURL("**?feed=failed");
  await lines.first().waitFor({ state: "detached" });
});

/** Waits until the run has ended. Otherwise the server would wait for the run during its stop. */
const expectEnd = (run: string, id = workspaceId) =>
  eventually(`the end of ${run}`, async () => {
    const headers = { "beckon-workspace": id };
    const { finished_at: end } = (await owner.call(`/runs/${run}`, { headers })).body.data;
    return end === null ? undefined : true;
  });

inBrowser("a run that has ended does not come back to the feed after many events", async () => {
  const model = await startModelServer();
  const released = Promise.withResolvers<void>();
  model.script(held(released.promise, says("Done")));
  const { name } = await beckon.createProvider(model.url, "held");
  const agent = await beckon.createAgent({ name: "Long", model: `${name}/m` });
  const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  const page = await open(owner, "?feed=running");
  const { sendEvents } = await reloadWithStream(page);
  const links = page.getByRole("list", { name: "Newest runs" }).getByRole("link");
  await links.first().waitFor();
  const event = (type: string, run_id: string) => ({
    id: `${type} ${run_id}`,
    type,
    run_id,
    agent_id: agent.id,
    seq: 9,
    time: new Date().toISOString(),
    data: {},
  });
  released.resolve();
  await expectEnd(body.run_id);
  await page.getByText("No run is running.").waitFor();
  const others = Array.from({ length: 500 }, (_, index) => event("run.queued", `run_${index}`));
  await sendEvents([...others, event("run.started", "run_last")]);
  await links.first().waitFor();
  expect(await links.evaluateAll((each) => each.map((link) => link.getAttribute("href")))).toEqual([
    `/w/${workspaceId}/runs/run_last`,
  ]);
  await model.close();
});

/** Creates a workspace with active runs, whose model is at `base_url`. */
async function startRuns(name: string, base_url: string, inputs: readonly string[]) {
  const made = await owner.call("/workspaces", {
    body: { name },
    headers: { "beckon-workspace": workspaceId },
  });
  const id: string = made.body.data.id;
  const headers = { "beckon-workspace": id, prefer: "respond-async" };
  const kind = "openai-compatible";
  await owner.call("/providers", { body: { name: "held", kind, base_url }, headers });
  const agent = await owner.call("/agents", { body: { name, model: "held/m" }, headers });
  const runs: { id: string; run: string }[] = [];
  for (const input of inputs) {
    const path = `/agents/${agent.body.data.id}/invoke`;
    const { body } = await owner.call(path, { body: { input }, headers });
    runs.push({ id, run: body.run_id });
  }
  return runs;
}

const notice = /^This run is not shown live: other tabs use the few connections of the browser\./;

inBrowser("active runs of two workspaces leave connections for other pages", async () => {
  const model = await startModelServer();
  const released = Promise.withResolvers<void>();
  model.script(held(released.promise, says("Done")));
  const runs = [
    ...(await startRuns("North", model.url, ["One", "Two"])),
    ...(await startRuns("South", model.url, ["One", "Two"])),
  ];
  const [first = "", ...others] = runs.map(({ id, run }) => `/w/${id}/runs/${run}`);
  let page = await openDashboard(beckon.url, { as: owner, path: first });
  const pages = [page];
  for (const path of others) {
    await page.getByRole("main").getByText("Live", { exact: true }).waitFor();
    page = await page.context().newPage();
    await page.goto(beckon.url + path);
    pages.push(page);
  }
  for (const replaced of pages.slice(0, 2)) await replaced.getByText(notice).waitFor();
  const last = await page.context().newPage();
  await last.goto(`${beckon.url}/w/${workspaceId}/keys`);
  await last.getByRole("table", { name: "Keys" }).waitFor();
  await last.getByTitle("Live", { exact: true }).waitFor();
  released.resolve();
  for (const { id, run } of runs) await expectEnd(run, id);
  await model.close();
});

inBrowser("tabs from before and after an upgrade leave connections for other pages", async () => {
  const model = await startModelServer();
  const released = Promise.withResolvers<void>();
  model.script(held(released.promise, says("Done")));
  const runs = await startRuns("Upgraded", model.url, ["One", "Two", "Three"]);
  const start = await openDashboard(beckon.url, { as: owner, path: `/w/${runs[0]?.id}/keys` });
  const openRuns = async (script = "") => {
    const pages: (typeof start)[] = [];
    for (const { id, run } of runs) {
      const page = await start.context().newPage();
      await page.addInitScript(script);
      await page.goto(`${beckon.url}/w/${id}/runs/${run}`);
      await page.getByRole("main").getByText("Live", { exact: true }).waitFor();
      pages.push(page);
    }
    return pages;
  };
  const earlier = await openRuns();
  // With another name, the pages get another SharedWorker, as those of another build do.
  await openRuns(`SharedWorker = class extends SharedWorker {
    constructor(url, options) {
      super(url, { ...options, name: "after the upgrade" });
    }
  };`);
  for (const page of earlier) await page.getByText(notice).waitFor();
  await start.goto(`${beckon.url}/w/${workspaceId}/keys`);
  await start.getByRole("table", { name: "Keys" }).waitFor();
  await start.getByTitle("Live", { exact: true }).waitFor();
  released.resolve();
  for (const { id, run } of runs) await expectEnd(run, id);
  await model.close();
});

inBrowser("a page is left once another person opens another workspace in the browser", async () => {
  const { data } = (
    await owner.call("/workspaces", {
      body: { name: "Before" },
      headers: { "beckon-workspace": workspaceId },
    })
  ).body;
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${data.id}` });
  await page.getByTitle("Live", { exact: true }).waitFor();
  const other = await addPerson(beckon, { role: "viewer" });
  // Does not wait until the sign-in page is loaded. That page opens another page at once, because
  // the other person is signed in.
  const left = page.waitForURL(/sign-in/, { waitUntil: "commit", timeout: 0 });
  left.catch(() => {});
  await page.context().addCookies([cookieFor(beckon.url, other.cookie)]);
  const opened = await page.context().newPage();
  await opened.goto(`${beckon.url}/w/${workspaceId}`);
  await opened.getByTitle("Live", { exact: true }).waitFor();
  await left;
});

inBrowser("on a phone, the header of each page shows that updates are live", async () => {
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${workspaceId}`,
    viewport: viewports.phone,
  });
  const lamp = page.locator("main header").getByRole("img", { name: "Live", exact: true });
  for (const screen of ["Overview", "Runs", "Agents"]) {
    await page.getByRole("navigation", { name: "Main" }).getByText(screen).click();
    await page.getByRole("heading", { name: screen, level: 1 }).waitFor();
    await lamp.waitFor();
  }
});
