import type { Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { startTargetServer } from "../../server/test/target-server.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/** Tests how tools are added to an agent: by a form, and from an OpenAPI document. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const shop = await startTargetServer();
afterAll(() => shop.close());

const openAgent = (agentId: string, rest = "/playground") =>
  openDashboard(beckon.url, {
    as: owner,
    path: `/w/${owner.workspaceId}/agents/${agentId}${rest}`,
  });

const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

inBrowser("leaving the form of a tool asks", async () => {
  const { id } = await beckon.createAgent({ name: "Desk" });
  const page = await openAgent(id, "/settings");
  await button(page, "Add tool").click();
  await page.getByRole("menuitem", { name: "HTTP API…" }).click();
  await field(page, "Name of the tool").fill("shop");
  await page.keyboard.press("Control+K");
  await page.getByRole("combobox", { name: "Find, go and act" }).fill("Runs");
  await page.getByRole("option", { name: /^Runs/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  const question = page.getByRole("alertdialog", { name: "Leave without saving?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => field(page, "Name of the tool").inputValue()).toBe("shop");
});

inBrowser("an HTTP tool is added with a secret that nobody can read, and tried", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id);
  await button(page, "Add tool").click();
  await page.getByRole("menuitem", { name: "HTTP API…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Add tool" }).click();
  await dialog.getByText("Must be 1 to 64 characters").first().waitFor();
  await dialog.getByText("Must be an http or https URL without a fragment.").waitFor();
  await expectAccessible(page);

  await field(page, "Name of the tool").fill("shop");
  await field(page, "Function").fill("read_order");
  await field(page, "What it does").fill("Reads an order");
  await field(page, "URL").fill(`${shop.url}/orders/{number}`);
  await button(page, "Add header").last().click();
  await dialog.getByLabel("Name 1").fill("Authorization");
  await dialog.getByLabel("Kind 1").selectOption("secret");
  await dialog.getByLabel("Prefix 1").fill("Bearer ");
  await dialog.getByLabel("Secret 1").fill("short");
  await button(page, "Add tool").click();
  await dialog.getByText("Use at least 8 characters.").waitFor();
  await dialog.getByLabel("Secret 1").fill("shop-key-0123456789");
  await expect
    .poll(() => field(page, "Parameters as JSON Schema").inputValue())
    .toContain('"number"');
  const schema = {
    type: "object",
    properties: { number: { type: "integer" } },
    required: ["number"],
  };
  await field(page, "Parameters as JSON Schema").fill(JSON.stringify(schema));
  await button(page, "Add tool").click();
  await dialog.waitFor({ state: "detached" });
  await button(page, "Run").hover();
  await page.getByText("Save the settings first").first().waitFor();
  // The secret is not stored in the browser. But it is kept while the other screen is opened.
  await page.getByRole("navigation", { name: "Agent" }).getByText("Settings").click();
  await field(page, "Name").waitFor();

  await button(page, "Try it: shop").hover();
  await button(page, "Try it: shop").click();
  await button(page, "Call").hover();
  await page.getByText("Save the settings first").first().waitFor();
  await button(page, "Close").first().click();
  await button(page, "Save").click();
  await page.getByText("Saved v2").waitFor();
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
  expect(stored).not.toContain("shop-key");

  await button(page, "Try it: shop").click();
  await field(page, "Arguments as JSON").fill("nonsense");
  await button(page, "Call").click();
  await page.getByText("This is not JSON.").waitFor();
  await field(page, "Arguments as JSON").and(page.locator(":focus")).waitFor();
  await field(page, "Arguments as JSON").fill('{"number": 4711}');
  await button(page, "Call").click();
  await page.getByRole("dialog").getByRole("tree", { name: "Result" }).waitFor();
  expect(shop.reached.at(-1)).toMatchObject({
    url: "/orders/4711",
    headers: { authorization: "Bearer shop-key-0123456789" },
  });
  await field(page, "Arguments as JSON").fill('{"number": 9007199254740993}');
  await button(page, "Call").click();
  const called = page.getByRole("dialog").getByRole("tree", { name: "Arguments" });
  await called.getByText("9007199254740993").waitFor();
  await expect.poll(() => shop.reached.at(-1)?.url).toBe("/orders/9007199254740993");
  await page.getByRole("dialog").getByRole("status").getByText("Succeeded").waitFor();
  await page.route(/\/runs\/run_\w+$/, (route) => route.fulfill({ status: 400, json: {} }));
  await button(page, "Call").click();
  await page.getByText("The run could not be loaded.").waitFor();
  await button(page, "Close").first().click();
  await button(page, "Edit shop").click();
  await page.getByText("A secret is stored: ····6789").waitFor();
});

inBrowser("a tool is imported from an OpenAPI document after a review", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id);
  /** Expects that Esc asks before it closes the dialog, and keeps the dialog. */
  const expectQuestion = async () => {
    await page.keyboard.press("Escape");
    const question = page.getByRole("alertdialog", { name: "Close without saving?" });
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "detached" });
  };
  await button(page, "Add tool").click();
  await page.getByRole("menuitem", { name: "Import from OpenAPI…" }).click();
  await button(page, "Read document").click();
  await page.getByText("Paste an OpenAPI document, or open a file.").waitFor();
  await field(page, "Document").and(page.locator(":focus")).waitFor();
  await field(page, "Document").fill("nonsense: 1");
  await button(page, "Read document").click();
  await page.getByText(/is not OpenAPI 3\.0 or 3\.1/).waitFor();
  await field(page, "Document").and(page.locator(":focus")).waitFor();
  await expectQuestion();
  const operation = (operationId: string) => ({ get: { operationId, summary: operationId } });
  const document = {
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    paths: {
      "/orders": operation("listOrders"),
      "/customers": {
        ...operation("listCustomers"),
        servers: [{ url: "https://customers.example.com" }],
      },
    },
  };
  const paths = Array.from({ length: 71 }, (_, index) => [`/p${index + 1}`, { get: {} }]);
  const large = { ...document, paths: Object.fromEntries(paths) };
  const file = { name: "large.json", mimeType: "application/json" };
  const buffer = Buffer.alloc(1024 * 1024 + 1);
  await page.getByLabel("Or open a file").setInputFiles({ ...file, buffer });
  await page.getByText("large.json is larger than 1 MiB.").waitFor();
  await field(page, "Document").fill(JSON.stringify(large));
  await button(page, "Read document").click();
  await page.getByText("has no server with an absolute URL. Name").waitFor();
  await field(page, "Server").and(page.locator(":focus")).fill(shop.url);
  await button(page, "Read document").click();
  await page.getByText("Functions to add: 0 of 71, at most 64").waitFor();
  await field(page, "Search functions").fill("p70");
  await page.getByRole("checkbox").check();
  await button(page, "Continue").click();
  const tool = page.getByRole("dialog", { name: "Add an HTTP tool" });
  await expect.poll(() => field(page, "Function").inputValue()).toBe("get_p70");
  await tool.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Discard changes" }).click();

  await button(page, "Add tool").click();
  await page.getByRole("menuitem", { name: "Import from OpenAPI…" }).click();
  await field(page, "Server").fill(shop.url);
  await field(page, "Document").fill(JSON.stringify(document));
  await button(page, "Read document").click();
  await page.getByRole("checkbox", { name: "listCustomers" }).uncheck();
  await expectQuestion();
  await button(page, "Change document").click();
  expect(await field(page, "Document").inputValue()).toBe(JSON.stringify(document));
  await button(page, "Read document").click();
  await page.getByRole("checkbox", { name: "listCustomers" }).uncheck();
  await button(page, "Continue").click();
  await tool.waitFor();
  await expectQuestion();
  await page.getByRole("dialog").getByRole("button", { name: "Add tool" }).click();
  await button(page, "Save").click();
  await page.getByText("Saved v2").waitFor();
  const { body } = await beckon.call(`/agents/${id}`);
  expect(body.data.tools).toMatchObject([
    {
      name: "Shop",
      // The host of the function that was not chosen is not allowed.
      allowed_hosts: [new URL(shop.url).host],
      operations: [{ name: "listOrders" }],
    },
  ]);
});

inBrowser("visiting the descriptions of an imported tool keeps their line breaks", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id, "/settings");
  await button(page, "Add tool").click();
  await page.getByRole("menuitem", { name: "Import from OpenAPI…" }).click();
  const operation = { operationId: "listOrders", summary: "Lists orders", description: "Newest." };
  const document = {
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    servers: [{ url: shop.url }],
    paths: { "/orders": { get: operation } },
  };
  await field(page, "Document").fill(JSON.stringify(document));
  await button(page, "Read document").click();
  await button(page, "Continue").click();
  const dialog = page.getByRole("dialog", { name: "Add an HTTP tool" });
  for (const name of ["Description", "What it does"]) {
    await dialog.getByRole("textbox", { name, exact: true }).focus();
    await page.keyboard.press("Tab");
  }
  await dialog.getByRole("button", { name: "Add tool" }).click();
  await button(page, "Save").click();
  await page.getByText("Saved v2").waitFor();
  const { body } = await beckon.call(`/agents/${id}`);
  expect(body.data.tools[0].operations[0].description).toBe("Lists orders\n\nNewest.");
});
