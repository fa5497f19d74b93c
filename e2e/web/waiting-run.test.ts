import { afterAll } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { eventually } from "../../server/test/eventually.ts";
import { held, says, startModelServer } from "../../server/test/model-server.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const model = await startModelServer();
afterAll(() => model.close());

inBrowser("the page of a run that waits for a limit names the limit", async () => {
  const { name } = await beckon.createProvider(model.url);
  const price = { input_micros_per_million: 0, output_micros_per_million: 1_000_000 };
  await beckon.call("/prices", { body: { model: `${name}/scripted`, ...price } });
  const agent = await beckon.createAgent({
    model: `${name}/scripted`,
    model_settings: { max_output_tokens: 300_000 },
  });
  const limit = { limit_micros: 400_000 };
  await beckon.call(`/limits/agent/${agent.id}`, { method: "PUT", body: limit });
  const released = Promise.withResolvers<void>();
  model.script(held(released.promise, says("done")));
  const start = async () =>
    (await beckon.invoke(agent, "Hello", { prefer: "respond-async" })).body.run_id as string;
  await start();
  await eventually("the first call", () => model.requests.length || undefined);
  const runId = await start();
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${owner.workspaceId}/runs/${runId}`,
  });
  await page
    .getByText("The ceiling of the agent: $0.00 of $0.40 used, $0.30 reserved.")
    .waitFor({ timeout: 60_000 });
  released.resolve();
});
