import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson } from "../../server/test/people.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

const beckon = await startTestBeckon();
const workspaceId = "wsp_00000000000000000000000000";
const owner = await addPerson(beckon, { role: "owner" });
const agent = await beckon.createAgent({ name: "Watched" });
const { run_id: runId } = (await beckon.invoke(agent, "Hello")).body;

/**
 * Opens a page that is not tested, and slows the clock of the next one: the dashboard uses the
 * early responses in its first 10 seconds only, which a busy machine can exceed.
 */
async function openSlowed(): Promise<Page> {
  const page = await openDashboard(beckon.url, { as: owner, path: "/docs" });
  await page.addInitScript(`{
    const now = performance.now.bind(performance);
    performance.now = () => now() / 100;
  }`);
  return page;
}

/** Opens a page, and returns the requests that it sends to the API until it shows the text. */
async function requestsOf(path: string, text: string): Promise<readonly string[]> {
  const page = await openSlowed();
  const requests: string[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith("/api/public/")) requests.push(pathname + search);
  });
  await page.goto(`${beckon.url}/w/${workspaceId}${path}`);
  await page.getByText(text).first().waitFor();
  return requests;
}

// `public/theme.js` sends the requests below before the code of the dashboard runs. That code uses
// the responses only if it requests exactly the same paths. Otherwise it sends requests of its own,
// and the test finds more requests than it expects.
inBrowser("what the overview shows first is requested once, before its code has run", async () => {
  const requests = await requestsOf("", "1 run in the last hour");
  const of = (start: string) => requests.filter((path) => path.startsWith(`/api/public${start}`));
  expect(of("/me")).toHaveLength(1);
  expect(of("/workspaces")).toHaveLength(1);
  // These are requested once more when the stream of events is open.
  expect(of("/agents").length).toBeLessThanOrEqual(2);
  expect(of("/runs?view").length).toBeLessThanOrEqual(2);
  expect(new Set(of("/agents"))).toEqual(new Set(["/api/public/agents?limit=200&view=summary"]));
  expect(new Set(of("/runs?view"))).toEqual(new Set(["/api/public/runs?view=summary&limit=100"]));
});

inBrowser("what a run shows first is requested once, before its code has run", async () => {
  const requests = await requestsOf(`/runs/${runId}`, "Model call 1");
  const of = (start: string) => requests.filter((path) => path.startsWith(`/api/public${start}`));
  expect(of("/me")).toHaveLength(1);
  expect(of("/workspaces")).toHaveLength(1);
  expect(of(`/runs/${runId}/events?view`)).toEqual([
    `/api/public/runs/${runId}/events?view=summary&limit=60`,
  ]);
});

inBrowser("an agent is requested before the code of its screens is loaded", async () => {
  const page = await openSlowed();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  // Only the first response is answered, so the page shows the agent only if its code uses it.
  const path = `/api/public/agents/${agent.id}`;
  let isFirst = true;
  await page.context().route(`**${path}`, (route) => {
    if (!isFirst) return route.abort();
    isFirst = false;
    return route.continue();
  });
  await page.goto(`${beckon.url}/w/${workspaceId}/agents/${agent.id}/versions`);
  await page.getByRole("heading", { name: "Watched" }).waitFor();
  const code = requests.findIndex((each) => each.startsWith("/assets/agent-frame-"));
  const read = requests.slice(0, code).filter((each) => each.startsWith("/api/public/agents"));
  expect(read).toEqual([path]);
});

// If the browser could not load the worker, the page would open a stream without saying so.
inBrowser("the SharedWorker runs, so that all tabs have one stream: a tab opens none", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: "/docs" });
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(`${beckon.url}/w/${workspaceId}`);
  await page.getByTitle("Live", { exact: true }).waitFor();
  expect(requests).toContain("/api/public/me");
  expect(requests).not.toContain("/api/public/events");
});
