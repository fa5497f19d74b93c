import { afterAll, expect, onTestFinished } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { held, says, startModelServer, status } from "../../server/test/model-server.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const model = await startModelServer();
afterAll(() => model.close());
const provider = await beckon.createProvider(model.url);
const scripted = { model: `${provider.name}/scripted` };

const open = (path: string) =>
  openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}${path}` });
const failure = /Attempt \d+ failed, and the model is called again later: .*answered 429/;

inBrowser(
  "the page of a run says why it waits for a rate limit, then shows its answer",
  async () => {
    // The waits become longer. So the first one begins only when the page is live.
    const live = Promise.withResolvers<void>();
    onTestFinished(() => live.resolve());
    model.script(held(live.promise, status(429)));
    const agent = await beckon.createAgent(scripted);
    const started = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
    const page = await open(`/runs/${started.body.run_id}`);
    await page.getByRole("main").getByText("Live", { exact: true }).waitFor();
    live.resolve();
    await page.getByText(failure).waitFor();
    model.script(says("The answer."));
    await page.getByText("Succeeded").first().waitFor();
    await page.getByText("The answer.").first().waitFor();
  },
);

inBrowser(
  "the playground says why a run waits, and shows an answer before a tool call once",
  async () => {
    model.script(status(429));
    const { id } = await beckon.createAgent({ ...scripted, tools: [{ type: "clock" }] });
    const page = await open(`/agents/${id}/playground`);
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("Hello");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(failure).waitFor();
    const call = { id: "c1", name: "clock", arguments: "{}" };
    model.script([says({ text: "The answer.", calls: [call] }), says({ text: "" })]);
    await page.getByText("Succeeded").waitFor();
    expect(await page.getByText("The answer.").count()).toBe(1);
    expect(await page.getByText("empty text").count()).toBe(0);
  },
);
