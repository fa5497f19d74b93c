import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { says, startModelServer } from "../../server/test/model-server.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

/** Tests a workspace without own providers, on a machine with two model servers and a key. */

/** A model server that lists an embedding model first. */
const embedding = createServer((_request, response) => {
  const data = ["nomic-embed-text", "qwen3"].map((id) => ({ id, object: "model" }));
  response
    .setHeader("content-type", "application/json")
    .end(JSON.stringify({ object: "list", data }));
});
await new Promise<void>((resolve) => embedding.listen(0, "127.0.0.1", resolve));
const models = await startModelServer();
models.script(says({ text: "The order was shipped." }));
afterAll(async () => {
  embedding.closeAllConnections();
  embedding.close();
  await models.close();
});
const beckon = await startTestBeckon(
  { BECKON_DISCOVER: "1", OPENAI_API_KEY: "sk-of-the-operator-0123", OPENAI_BASE_URL: models.url },
  {
    modelServers: [
      { name: "vllm", port: Number(new URL(models.url).port), start: "Start it" },
      { name: "ollama", port: (embedding.address() as AddressInfo).port, start: "Start it" },
    ],
  },
);
const owner = await createOwner(beckon.url, await setupToken(beckon));

inBrowser("a new agent is offered the models that were found, and answers with one", async () => {
  const { id } = await beckon.createAgent();
  const path = `/w/${owner.workspaceId}/agents/${id}/playground`;
  const page = await openDashboard(beckon.url, { as: owner, path });
  await page.getByRole("heading", { name: "Choose where the answers come from" }).waitFor();
  const sources = page.getByRole("list", { name: "Sources of models" });
  await expect
    .poll(() => sources.getByRole("heading").allTextContents())
    .toEqual(["vllm", "openai", "ollama", "openai-chat", "demo", "Your own account or server"]);
  await sources.getByText("Environment").first().waitFor();
  await sources.getByText("Found on this machine").first().waitFor();
  await sources.getByText("The same account by Chat Completions. Prefer openai.").waitFor();
  await sources.getByRole("button", { name: "Use it: ollama/qwen3" }).waitFor();
  await sources.getByText("In use", { exact: true }).waitFor();
  expect(await sources.getByRole("button", { name: "Use it: demo/echo" }).count()).toBe(0);
  await sources.getByRole("button", { name: "Use it: vllm/scripted" }).click();
  const model = page.getByRole("textbox", { name: "Model", exact: true });
  await expect.poll(() => model.inputValue()).toBe("vllm/scripted");
  await sources.waitFor({ state: "detached" });
  await page.getByRole("textbox", { name: "Message", exact: true }).fill("Where is order 4711?");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Succeeded").waitFor();
  await page.getByText("The order was shipped.").waitFor();
});

inBrowser("on a phone an empty conversation does not scroll when the models arrive", async () => {
  const { id } = await beckon.createAgent();
  const path = `/w/${owner.workspaceId}/agents/${id}/versions`;
  const page = await openDashboard(beckon.url, { as: owner, path, viewport: viewports.narrow });
  const models = await holdRequests(page, /\/models$/);
  const tabs = page.getByRole("navigation", { name: "Agent" });
  await tabs.getByRole("link", { name: "Playground" }).click();
  await models.reached;
  const demo = page.getByText("This agent uses the demo model.");
  await demo.waitFor();
  const before = await demo.boundingBox();
  await models.release();
  await page.getByRole("list", { name: "Sources of models" }).waitFor();
  await renderFrames(page);
  expect(await demo.boundingBox()).toEqual(before);
});
