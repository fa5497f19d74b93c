import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { eventually } from "../../server/test/eventually.ts";
import { growJournal } from "../../server/test/grow-journal.ts";
import { says, startModelServer } from "../../server/test/model-server.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests } from "./hold-requests.ts";

/** Tests that the page of a run says nothing wrong while it has read only a part of the run. */

const gates = new Map<string, PromiseWithResolvers<void>>();
const beckon = await startTestBeckon(
  {},
  {
    tools: [
      {
        name: "wait_for_gate",
        description: "Waits until the test opens the gate.",
        parameters: { type: "object" },
        safeToRepeat: true,
        execute: async (args) => {
          await gates.get((args as { gate: string }).gate)?.promise;
          return "The gate is open.";
        },
      },
    ],
  },
);
const owner = await createOwner(beckon.url, await setupToken(beckon));
const model = await startModelServer();
afterAll(() => model.close());
const provider = await beckon.createProvider(model.url);

const createAgent = (limits: object = {}) =>
  beckon.createAgent({ name: "Refund desk", model: `${provider.name}/scripted`, limits });
type Agent = Awaited<ReturnType<typeof createAgent>>;
const start = async (agent: Agent): Promise<string> =>
  (await beckon.invoke(agent, "Hello", { prefer: "respond-async" })).body.run_id;

const waitsFor = (gate: string) => {
  gates.set(gate, Promise.withResolvers());
  return says({
    calls: [{ id: "call_1", name: "wait_for_gate", arguments: JSON.stringify({ gate }) }],
  });
};

const statusOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data.status;
const reaches = (runId: string, status: string) =>
  eventually(`the run, ${status}`, async () => (await statusOf(runId)) === status || undefined);

const pathOf = (runId: string) => `/w/${owner.workspaceId}/runs/${runId}`;
const open = (path = "/runs") =>
  openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}${path}` });

inBrowser(
  "a run that starts before its journal is read, but after the run, is running",
  async () => {
    const agent = await createAgent({ max_concurrent_runs: 1 });
    model.script([waitsFor("before"), says("Done."), waitsFor("in it"), says("Done.")]);
    const [before, runId] = [await start(agent), await start(agent)];
    const page = await open();
    const run = await holdRequests(page, new RegExp(`/public/runs/${runId}(\\?|$)`), {
      isSent: true,
    });
    const journal = await holdRequests(page, new RegExp(`/runs/${runId}/events`));
    // Within the page, because a page that is loaded reads the run again soon.
    await page.getByRole("row", { name: "Queued" }).getByRole("link").first().click();
    await Promise.all([run.reached, journal.reached]);
    gates.get("before")?.resolve();
    await reaches(before, "succeeded");
    await reaches(runId, "running");
    await Promise.all([run.release(), journal.release()]);
    await page.getByRole("status").getByText("Run running").waitFor({ state: "attached" });
    gates.get("in it")?.resolve();
    await reaches(runId, "succeeded");
  },
);

inBrowser("the cost of a running run is shown once the page knows all its calls", async () => {
  model.script([waitsFor("cost"), says("Done.")]);
  const runId = await start(await createAgent());
  const page = await open();
  const journal = await holdRequests(page, new RegExp(`/runs/${runId}/events`));
  await page.goto(beckon.url + pathOf(runId));
  const cost = page.locator("dt", { hasText: "Cost so far" }).locator("+ dd");
  await cost.getByText("–", { exact: true }).waitFor();
  await journal.release();
  await cost.getByText("unknown").waitFor();
  gates.get("cost")?.resolve();
  await reaches(runId, "succeeded");
});

inBrowser("a retry that has not ended is compared without a cost or a duration", async () => {
  model.script([says("First."), waitsFor("retry"), says("Second.")]);
  const agent = await createAgent();
  const runId = (await beckon.invoke(agent, "Hello")).body.run_id;
  const retry = await beckon.call(`/runs/${runId}/retry`, { body: {} });
  const page = await open(`/runs/${retry.body.data.id}?compare=1`);
  const now = page.getByRole("dialog").getByRole("region", { name: "Now" });
  await now.getByText("Running").waitFor();
  expect(await now.getByText("unknown").count()).toBe(0);
  gates.get("retry")?.resolve();
  await now.getByText("Second.").waitFor();
  await now.getByText("Cost unknown").waitFor();
});

inBrowser(
  "a link to a step shows it before the journal is read, or says it is missing",
  async () => {
    model.script([says("Done.")]);
    const runId = (await beckon.invoke(await createAgent(), "Hello")).body.run_id;
    await growJournal(beckon.db.database.engine, runId, 300, 10);
    const page = await open();
    const journal = await holdRequests(page, /\/events\?.*view=summary.*after=/);
    await page.goto(`${beckon.url}${pathOf(runId)}?seq=250&view=json`);
    const detail = page.getByRole("region", { name: "Detail of the step" });
    await detail.getByRole("tree", { name: "run.step" }).getByText("x".repeat(10)).waitFor();
    await journal.release();
    await detail.getByRole("heading", { name: "Model call 249" }).waitFor();
    await page.goto(`${beckon.url}${pathOf(runId)}?seq=9999`);
    await detail.getByText("This run has no journal entry 9999.").waitFor();
  },
);
