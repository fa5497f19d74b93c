import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { startModelServer } from "../../server/test/model-server.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

/**
 * A model name that is markup. The server `hostile` lists this model, and responds with 401 if the
 * key contains "wrong".
 */
const payload = "<img/src=x/onerror=alert(1)>";
const models = await startModelServer();
const hostile = createServer((request, response) => {
  if (request.headers.authorization?.includes("wrong")) return response.writeHead(401).end();
  return response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ data: [{ id: payload }, { id: "second" }] }));
});
await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", resolve));
const hostilePort = (hostile.address() as AddressInfo).port;
const hostileUrl = `http://127.0.0.1:${hostilePort}/v1`;
afterAll(async () => {
  hostile.closeAllConnections();
  hostile.close();
  await models.close();
});

const beckon = await startTestBeckon(
  {
    BECKON_EGRESS_ALLOW: `127.0.0.1:${hostilePort}`,
    BECKON_DISCOVER: "1",
    OPENAI_API_KEY: "sk-of-the-operator-0123",
    OPENAI_BASE_URL: models.url,
    ANTHROPIC_API_KEY: "sk-of-the-operator-4567",
    ANTHROPIC_BASE_URL: models.url,
  },
  { modelServers: [{ name: "vllm", port: Number(new URL(models.url).port), start: "Start it" }] },
);
const owner = await createOwner(beckon.url, await setupToken(beckon));
const path = `/w/${owner.workspaceId}/providers`;

const open = (search = "", as: { readonly cookie: string } = owner) =>
  openDashboard(beckon.url, { as, path: path + search });
const rowOf = (page: Page, name: string) =>
  page.getByRole("listitem").filter({ has: page.getByRole("heading", { name, exact: true }) });

async function fillIn(page: Page, { name = "", url = "", key = "" }): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Another server").click();
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Base URL").fill(url);
  await dialog.getByLabel("API key").fill(key);
  await dialog.getByRole("button", { name: "Add and check" }).click();
}

inBrowser("a provider is added, corrected until it works, and deleted", async () => {
  const page = await open();
  await page.getByRole("button", { name: "Add provider" }).click();
  await fillIn(page, { name: "gateway", url: hostileUrl, key: "wrong-key-0123456789" });
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It rejects the key (401). Copy the key").waitFor();
  await dialog.getByRole("button", { name: "Edit" }).click();
  await expect.poll(() => dialog.getByLabel("API key").inputValue()).toBe("");
  await dialog.getByLabel("API key").fill("right-key-0123456789");
  await dialog.getByRole("button", { name: "Save and check" }).click();
  await dialog.getByText("Works, 2 models").waitFor();
  await dialog.getByText(`gateway/${payload}`).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  const row = rowOf(page, "gateway");
  await row.getByText("key ends in 6789").waitFor();

  await page.getByRole("button", { name: "More about gateway" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete provider" }).click();
  await page.getByText("Deleted the provider gateway", { exact: true }).waitFor();
  await row.waitFor({ state: "detached" });
});

inBrowser("a provider that is added at an agent can be corrected in the same dialog", async () => {
  const { id } = await beckon.createAgent();
  const agentPath = `/w/${owner.workspaceId}/agents/${id}/playground`;
  const page = await openDashboard(beckon.url, { as: owner, path: agentPath });
  const dialog = page.getByRole("dialog");
  const addWithWrongKey = async (name: string) => {
    await page.getByRole("button", { name: "Add provider" }).click();
    const models = page.waitForResponse(/\/api\/public\/models/, { timeout: 0 });
    models.catch(() => {});
    await fillIn(page, { name, url: hostileUrl, key: "wrong-key-0123456789" });
    await (await models).finished();
    await renderFrames(page);
    await dialog.getByText("It rejects the key (401). Copy the key").waitFor();
    await dialog.getByRole("button", { name: "Edit" }).waitFor();
  };
  await addWithWrongKey("offered");
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("textbox", { name: "Model", exact: true }).fill("missing/large");
  await addWithWrongKey("missing");
});

inBrowser("a late check of an earlier key does not hide that the new one works", async () => {
  const page = await open();
  // Only the first check is late.
  const held = await holdRequests(page, "**/check", { times: 1, isSent: true });
  await page.getByRole("button", { name: "Add provider" }).click();
  await fillIn(page, { name: "corrected", url: hostileUrl, key: "wrong-key-0123456789" });
  await held.reached;
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("API key").fill("right-key-0123456789");
  await dialog.getByRole("button", { name: "Save and check" }).click();
  await dialog.getByText("Works, 2 models").waitFor();
  await held.release();
  await renderFrames(page);
  expect(await dialog.getByText("Works, 2 models").count()).toBe(1);
});

inBrowser("a key is sent only to the provider it was typed for", async () => {
  const page = await open("?new=1");
  const dialog = page.getByRole("dialog");
  const fields = (["API key", "Name", "Base URL"] as const).map((label) =>
    dialog.getByLabel(label),
  );
  const choose = (preset: string) => dialog.getByRole("radio", { name: preset }).click();
  const shows = (values: readonly string[]) =>
    expect.poll(() => Promise.all(fields.map((field) => field.inputValue()))).toEqual(values);
  const router = ["", "openrouter", "https://openrouter.ai/api/v1"];
  await dialog.getByLabel("API key").fill("sk-0123456789");
  await choose("OpenRouter");
  await shows(router);
  await choose("Another server");
  const own = ["sk-own-0123456789", "own", "https://models.example.com/v1"];
  for (const [index, field] of fields.entries()) await field.fill(own[index] ?? "");
  await choose("OpenRouter");
  await shows(router);
  await choose("Another server");
  await shows(own);
  await choose("OpenAI");
  await shows(["sk-0123456789", "openai", ""]);
});

inBrowser("a private address shows the setting to copy", async () => {
  const page = await open("?new=1&preset=ollama");
  await page.getByRole("button", { name: "Add and check" }).click();
  await page.getByText("add 127.0.0.1:11434 to BECKON_EGRESS_ALLOW").waitFor();
  await page.getByText("BECKON_EGRESS_ALLOW=127.0.0.1:11434", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Copy setting/ }).waitFor();
  await expect.poll(() => page.getByLabel("Base URL").getAttribute("aria-invalid")).toBe("true");
});

inBrowser(
  "each field of a wrong form says what to enter, and the first one has focus",
  async () => {
    const page = await open("?new=1");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Add and check" }).click();
    await dialog.getByText("Enter the key.").waitFor();
    await expectFocus(page, "API key");
    await fillIn(page, { name: "Not A Name", url: "ftp://example.com" });
    await dialog.getByText(/^Must be 1 to 63 of a-z/).waitFor();
    await dialog.getByText(/^Must be an http or https URL/).waitFor();
    await expectFocus(page, "Base URL");
    await fillIn(page, { name: "demo", url: models.url });
    await dialog.getByText("The provider name demo is reserved.").waitFor();
    await expectFocus(page, "Name");
    // Escape asks for confirmation before it discards typed text.
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Discard changes" }).click();
    await dialog.waitFor({ state: "detached" });
  },
);

/** Waits until the field with this label has the focus. */
const expectFocus = (page: Page, label: string) =>
  expect.poll(() => page.evaluate("document.activeElement?.labels?.[0]?.textContent")).toBe(label);

inBrowser("a provider is not saved with an empty or a wrong base URL", async () => {
  const { body } = await beckon.call("/providers", {
    body: { name: "edited", kind: "openai-compatible", base_url: models.url },
  });
  const page = await open(`?edit=${body.data.id}`);
  const dialog = page.getByRole("dialog");
  const address = dialog.getByLabel("Base URL");
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") sent.push(request.url());
  });
  for (const [typed, error] of [
    ["", /^Enter the root of the API/],
    ["ftp://example.com", /^Must be an http or https URL/],
  ] as const) {
    await address.fill(typed);
    await dialog.getByRole("button", { name: "Save and check" }).click();
    await dialog.getByText(error).waitFor();
    await expect.poll(() => address.getAttribute("aria-invalid")).toBe("true");
    await expectFocus(page, "Base URL");
  }
  expect(sent).toEqual([]);
});

inBrowser("a run without a price leads to its provider, which is marked as free", async () => {
  const { id, name } = await beckon.createProvider(models.url, "own");
  const agent = await beckon.createAgent({ model: `${name}/scripted` });
  const limit = { method: "PUT", body: { limit_micros: 1_000_000 } };
  await beckon.call(`/limits/agent/${agent.id}`, limit);
  const { body } = await beckon.invoke(agent, "Hello");
  expect(body.code).toBe("price_unknown");
  const runPath = `/w/${owner.workspaceId}/runs/${body.run_id}`;
  const page = await openDashboard(beckon.url, { as: owner, path: runPath });
  await page.getByRole("link", { name: "Open the providers" }).click();
  await page.getByRole("button", { name: `More about ${name}` }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByLabel("Calls cost nothing").check();
  await page.getByRole("button", { name: "Save and check" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await rowOf(page, name).getByText("free", { exact: true }).waitFor();
  expect((await beckon.call(`/providers/${id}`)).body.data.free).toBe(true);
  expect((await beckon.invoke(agent, "Hello")).status).toBe(200);
});

inBrowser("a provider is added as free", async () => {
  const page = await open("?new=1");
  await page.getByLabel("Calls cost nothing").check();
  // What was checked for one preset does not apply to another.
  await page.getByRole("dialog").getByLabel("Another server").click();
  await expect.poll(() => page.getByLabel("Calls cost nothing").isChecked()).toBe(false);
  await page.getByLabel("Calls cost nothing").check();
  await fillIn(page, { name: "added-free", url: hostileUrl });
  await page.getByRole("button", { name: "Done" }).click();
  await rowOf(page, "added-free").getByText("free", { exact: true }).waitFor();
});

inBrowser("an editor keeps a provider free, and sees why they cannot change that", async () => {
  const editor = await addPerson(beckon, { role: "editor" });
  const { id } = await beckon.createProvider(models.url, "kept-free");
  await beckon.call(`/providers/${id}`, { method: "PATCH", body: { free: true } });
  const page = await open(`?edit=${id}`, editor);
  const isFree = page.getByLabel("Calls cost nothing");
  await page.getByText("This needs the role admin.").waitFor();
  expect([await isFree.isChecked(), await isFree.isDisabled()]).toEqual([true, true]);
  await page.getByLabel("API key").fill("sk-0123456789ab");
  await page.getByRole("button", { name: "Save and check" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  const { data } = (await beckon.call(`/providers/${id}`)).body;
  expect(data).toMatchObject({ free: true, api_key_last4: "89ab" });
});

inBrowser("a stored key is not sent to another origin", async () => {
  const { body } = await beckon.call("/providers", {
    body: {
      name: "moved",
      kind: "openai-compatible",
      base_url: models.url,
      api_key: "sk-0123456789ab",
    },
  });
  const page = await open(`?edit=${body.data.id}`);
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Base URL").fill(hostileUrl);
  await dialog.getByText("The stored key was given for another origin.").waitFor();
  await dialog.getByRole("button", { name: "Save and check" }).click();
  await dialog.getByText(/^The stored key was not given for http/).waitFor();
  await dialog.getByLabel("Remove the stored key").click();
  await dialog.getByRole("button", { name: "Save and check" }).click();
  await dialog.getByText("Works, 2 models").waitFor();
});

inBrowser("a provider that agents use is not deleted, and the agents are named", async () => {
  const { name } = await beckon.createProvider(models.url, "used");
  await beckon.createAgent({ name: "Refund desk", model: `${name}/scripted` });
  const page = await open();
  await page.getByRole("button", { name: "More about used" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("link", { name: "Refund desk" }).waitFor();
  await page.getByRole("button", { name: "Delete provider" }).click();
  await page.getByText("Agents use this provider: Refund desk.").waitFor();
});

inBrowser("agents from before keep the operator's provider beside one of its name", async () => {
  const old = await beckon.createAgent({ name: "Old desk", model: "anthropic/scripted" });
  await beckon.createProvider(models.url, "anthropic");
  await beckon.createAgent({ name: "New desk", model: "anthropic/scripted" });
  const page = await open();
  const row = rowOf(page, "anthropic").filter({ hasText: "Environment" });
  await row.getByText("Partly replaced").waitFor();
  await row.getByText(/Agents that used this one before keep it/).waitFor();
  await page.getByRole("button", { name: "More about anthropic" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("link", { name: "New desk" }).waitFor();
  expect(await page.getByRole("link", { name: "Old desk" }).count()).toBe(0);
  await page.getByText("1 agent uses this provider:").waitFor();
  await page.goto(`${beckon.url}/w/${owner.workspaceId}/agents/${old.id}/settings`);
  await page.getByText("The agent still uses the operator's provider of this name.").waitFor();
  await page.getByRole("button", { name: "Use the current provider" }).waitFor();
});

inBrowser("the deletion says whether it is known which agents use the provider", async () => {
  const { name } = await beckon.createProvider(models.url, "unread");
  await beckon.createAgent({ name: "Night desk", model: `${name}/scripted` });
  const page = await open();
  const held = await holdRequests(page, /\/api\/public\/agents\?.*view=summary/, {
    handle: (route) => route.fulfill({ status: 400, json: { ok: false, error: "No." } }),
  });
  await page.getByRole("button", { name: "More about unread" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText(/^Checking which agents use it/).waitFor();
  expect(await dialog.getByText("Agents can no longer use its models").count()).toBe(0);
  await held.release();
  await dialog.getByText(/^It could not be checked which agents use it/).waitFor();
  expect(await dialog.getByText("Agents can no longer use its models").count()).toBe(0);
});

inBrowser("the operator's providers are marked, and can only be checked", async () => {
  const page = await open();
  const row = rowOf(page, "openai");
  await row.getByText("Environment").waitFor();
  await row.getByText("Works, 1 model").waitFor();
  await expect.poll(() => row.getByRole("button", { name: /^More/ }).count()).toBe(0);
  await row.getByRole("button", { name: "Check openai" }).click();
  await row.getByText("Checked now").waitFor();
  await row.getByRole("button", { name: "Models of openai" }).click();
  await row.getByText("openai/scripted").waitFor();
  await expectAccessible(page);
});

inBrowser("a server found on this machine is marked, and need not be added", async () => {
  const page = await open("?new=1&preset=vllm");
  await page.getByText("Beckon has found vLLM on its own machine.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  const row = rowOf(page, "vllm");
  await row.getByText("Found on this machine").waitFor();
  await row.getByText("Works, 1 model").waitFor();
});

inBrowser("a viewer sees providers and cannot change them", async () => {
  const viewer = await addPerson(beckon, { role: "viewer" });
  const page = await open("?new=1", viewer);
  await rowOf(page, "openai").waitFor();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  for (const name of ["Add provider", "Check openai"])
    await expect
      .poll(() => page.getByRole("button", { name, exact: true }).getAttribute("aria-disabled"))
      .toBe("true");
});

inBrowser("nothing is wider than a narrow phone", async () => {
  await beckon.createProvider(models.url, "x".repeat(63));
  const page = await openDashboard(beckon.url, { as: owner, path, viewport: viewports.narrow });
  await rowOf(page, "x".repeat(63)).waitFor();
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollWidth"))
    .toBe(viewports.narrow.width);
});
