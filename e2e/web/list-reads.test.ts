import type { Page } from "playwright-core";
import { expect } from "vitest";
import { addRun, type GivenRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson } from "../../server/test/people.ts";
import { announceChange } from "./announce-change.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";
import { reloadWithStream } from "./live-stream.ts";

/** Tests lists of runs whose reads fail, or are answered late or in another order. */

const beckon = await startTestBeckon();
const workspaceId = "wsp_00000000000000000000000000";
const owner = await addPerson(beckon, { role: "owner" });
const add = (agent: { id: string }, given: GivenRun) =>
  addRun(beckon.db.database, { workspaceId, agentId: agent.id }, given);
const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);
const open = (path: string) =>
  openDashboard(beckon.url, { as: owner, path: `/w/${workspaceId}${path}` });

/** Makes the page read its runs again. */
const announceRuns = (page: Page) => announceChange(page, [workspaceId, "runs"]);

inBrowser("a late response with older runs does not remove newer ones", async () => {
  const agent = await beckon.createAgent({ name: "Late" });
  const page = await open(`/agents/${agent.id}/runs`);
  await page.getByText("Each call of an agent is a run").waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  const list = /\/api\/public\/runs\?/;
  const held = await holdRequests(page, list, { times: 1, isSent: true });
  await beckon.invoke(agent, "Read first");
  await held.reached;
  await beckon.invoke(agent, "Read second");
  const newer = page.getByRole("row", { name: "Read second" });
  await newer.waitFor();
  await held.release();
  await renderFrames(page);
  expect(await newer.count()).toBe(1);
});

inBrowser("a list whose first read failed shows the next run", async () => {
  const agent = await beckon.createAgent({ name: "Unread" });
  const page = await open("/runs?status=waiting");
  await page.getByTitle("Live", { exact: true }).waitFor();
  const list = /\/api\/public\/runs\?/;
  const failure = { ok: false, error: "It failed.", code: "bad_request" };
  await page.route(list, (route) => route.fulfill({ status: 400, json: failure }));
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  const problem = page.getByText("Runs could not be loaded.");
  await problem.waitFor();
  await page.unroute(list);
  await beckon.invoke(agent, "Read after a failure");
  await page.getByRole("row", { name: "Read after a failure" }).waitFor();
  await problem.waitFor({ state: "detached" });
});

inBrowser("a list that missed a run is read again once updates are live again", async () => {
  const agent = await beckon.createAgent({ name: "Missed" });
  await add(agent, { createdAt: at(60), input: "Listed" });
  const page = await open(`/agents/${agent.id}/runs`);
  const { send } = await reloadWithStream(page);
  await page.getByRole("row", { name: "Listed" }).waitFor();
  const list = /\/api\/public\/runs\?/;
  const failure = { ok: false, error: "It failed.", code: "bad_request" };
  await page.route(list, (route) => route.fulfill({ status: 400, json: failure }));
  await beckon.invoke(agent, "Missed at first");
  const problem = page.getByText(/^These rows are as of/);
  await problem.waitFor();
  await page.unroute(list);
  for (const state of ["reconnecting", "live"]) await send([{ type: "status", status: { state } }]);
  await page.getByRole("row", { name: "Missed at first" }).waitFor();
  await problem.waitFor({ state: "detached" });
});

inBrowser("a list whose next page failed is still read again after a change", async () => {
  const agent = await beckon.createAgent({ name: "Half a list" });
  for (let n = 0; n < 60; n++) await add(agent, { createdAt: at(60 + n), input: `Order ${n}.` });
  const page = await open(`/agents/${agent.id}/runs`);
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.getByRole("row", { name: "Order 0." }).waitFor();
  const nextPage = /\/runs\?.*after=/;
  await page.route(nextPage, (route) => route.abort());
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  const problem = page.getByText("The rest could not be loaded.");
  await problem.waitFor();
  await page.unroute(nextPage);
  await announceRuns(page);
  await problem.waitFor({ state: "detached" });
});

inBrowser("Retry after a failed update reads the newest runs, not all pages", async () => {
  const agent = await beckon.createAgent({ name: "Many pages" });
  for (let n = 0; n < 101; n++) await add(agent, { createdAt: at(60 + n), input: `Order ${n}.` });
  const page = await open(`/agents/${agent.id}/runs`);
  await page.getByRole("row", { name: "Order 0." }).waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  for (const shown of [/^100 /, "101 in total"]) {
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await page.getByText(shown).waitFor();
  }
  await page.evaluate("scrollTo(0, 0)");
  await page.route(/\/runs\?/, (route) => route.abort());
  await announceRuns(page);
  const problem = page.getByText(/^These rows are as of/);
  await problem.waitFor();
  await page.unrouteAll();
  const pages: (string | null)[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith("/runs")) pages.push(searchParams.get("after"));
  });
  await page.getByRole("button", { name: "Retry" }).click();
  await problem.waitFor({ state: "detached" });
  // At the top of the page, the next page can be read, too.
  expect(pages.length).toBeLessThan(3);
});

inBrowser("new runs stay in the list although its next page is still being read", async () => {
  const agent = await beckon.createAgent({ name: "Long list" });
  for (let n = 0; n < 60; n++) await add(agent, { createdAt: at(60 + n), input: `Order ${n}` });
  const page = await open(`/agents/${agent.id}/runs`);
  await page.getByRole("row", { name: "Order 0" }).waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  const held = await holdRequests(page, /\/runs\?.*after=/, { isSent: true });
  await page.mouse.move(700, 500);
  await page.mouse.wheel(0, 1_200);
  await held.reached;
  await beckon.invoke(agent, "Came later");
  await page.getByRole("button", { name: "1 new run" }).click();
  const newest = page.getByRole("row", { name: "Came later" });
  await newest.waitFor();
  await held.release();
  await renderFrames(page);
  expect(await newest.count()).toBe(1);
  await page.mouse.wheel(0, 3_000);
  await page.getByText("61 in total").waitFor();
  await page.mouse.wheel(0, 3_000);
  await page.getByRole("row", { name: "Order 59" }).waitFor();
});

inBrowser("rows that were read before newer ones are read again", async () => {
  const agent = await beckon.createAgent({ name: "Overtaken" });
  const runs = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      add(agent, { createdAt: at(60 + n), input: `Order ${n}.` }),
    ),
  );
  const page = await open(`/agents/${agent.id}/runs`);
  const row = (input: string) => page.getByRole("row", { name: input });
  await row("Order 0.").waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await row("Order 39.").waitFor();
  const held = await holdRequests(page, /\/runs\?/, { times: 1, isSent: true });
  expect((await beckon.call(`/runs/${runs[38]}`, { method: "DELETE" })).status).toBe(204);
  await announceRuns(page);
  await held.reached;
  await beckon.invoke(agent, "Meanwhile");
  await page.getByRole("button", { name: "1 new run" }).waitFor();
  await held.release();
  await row("Order 38.").waitFor({ state: "detached" });
});

inBrowser("a list that was left before its rows were read keeps its position", async () => {
  const agent = await beckon.createAgent({ name: "Left" });
  for (let n = 0; n < 60; n++) await add(agent, { createdAt: at(60 + n), input: `Order ${n}.` });
  const page = await open(`/agents/${agent.id}/runs`);
  await page.getByRole("row", { name: "Order 0." }).waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await page.getByText("60 in total").waitFor();
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  const last = page.getByRole("row", { name: "Order 59." });
  await last.waitFor();
  await renderFrames(page);
  const position = await page.evaluate<number>("scrollY");
  const held = await holdRequests(page, /\/runs\?/, { times: 1, isSent: true });
  await announceRuns(page);
  await held.reached;
  await page.getByRole("link", { name: "Keys", exact: true }).first().click();
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  await held.release();
  await renderFrames(page);
  await page.goBack();
  await last.waitFor();
  expect(await page.evaluate<number>("scrollY")).toBe(position);
});
