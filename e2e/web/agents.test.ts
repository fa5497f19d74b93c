import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner, type SignedIn } from "./accounts.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";

const beckon = await startTestBeckon();
const { url } = beckon;
const xss = "<img src=x onerror=alert(1)>";
let owner: SignedIn;
let agents: string;

beforeAll(async () => {
  owner = await createOwner(url, await setupToken(beckon));
  agents = `/w/${owner.workspaceId}/agents`;
});

const open = (path: string, options = {}) => openDashboard(url, { as: owner, path, ...options });
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

/** Creates an agent and changes its instructions, so that it has two versions. */
async function agentWithVersions(name: string): Promise<string> {
  const { id } = await beckon.createAgent({ name, instructions: "Be brief.\nBe kind." });
  await beckon.call(`/agents/${id}`, {
    method: "PATCH",
    body: { instructions: `Be very brief.\n${xss}`, limits: { max_steps: 7 } },
  });
  return id;
}

inBrowser("a blank agent needs a name and instructions only, and is opened", async () => {
  const page = await open(agents);
  await page.getByRole("link", { name: "New agent" }).click();
  await expect.poll(() => field(page, "Model").inputValue()).toBe("demo/echo");
  const name = field(page, "Name");
  await name.and(page.locator(":focus")).waitFor();
  await field(page, "Instructions").fill("You answer in one word.");
  await button(page, "Create agent").click();
  await page.getByText("Fill this in.").waitFor();
  await name.and(page.locator("[aria-invalid=true]:focus")).waitFor();
  await page.keyboard.type("Oracle");
  await button(page, "Create agent").click();
  await page.getByRole("heading", { name: "Oracle", level: 1 }).waitFor();
  await page.waitForURL(/\/agents\/agt_\w+\//);
  const [, id = ""] = /(agt_\w+)/.exec(page.url()) ?? [];
  const { body } = await beckon.call(`/agents/${id}`);
  expect(body.data).toMatchObject({
    name: "Oracle",
    model: "demo/echo",
    instructions: "You answer in one word.",
  });
});

inBrowser("the list shows at once that an agent was paused elsewhere", async () => {
  const { id } = await beckon.createAgent({ name: "Paused elsewhere" });
  const page = await open(agents);
  const row = page.getByRole("row").filter({ hasText: "Paused elsewhere" });
  await row.getByText("Active").waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  await beckon.call(`/agents/${id}/pause`, { body: {} });
  await row.getByText("Paused", { exact: true }).waitFor();
});

inBrowser("a template fills in the form, and its API becomes a tool with a secret", async () => {
  const page = await open(`${agents}/new?from=template`);
  const template = page.getByRole("link", { name: /Order lookup/ });
  await template.waitFor();
  await expectAccessible(page);
  await template.click();
  await page.getByLabel("Address of an order").fill("https://shop.example.com/v1/{order}");
  await page.getByLabel("API key").fill("short");
  await button(page, "Create agent").click();
  await page.getByText(/has the placeholder/i).waitFor();
  await page.locator('[name="url"]:focus').waitFor();
  await page.getByLabel("Address of an order").fill("https://shop.example.com/v1/{order_id}");
  await page.getByLabel("API key").fill("a-secret-of-the-shop");
  await button(page, "Create agent").click();
  await page.waitForURL(/\/agents\/agt_\w+\//);
  const [, id = ""] = /(agt_\w+)/.exec(page.url()) ?? [];
  const { body } = await beckon.call(`/agents/${id}`);
  expect(body.data.tools).toMatchObject([
    {
      name: "orders",
      allowed_hosts: ["shop.example.com"],
      headers: { Authorization: { prefix: "Bearer ", secret_last4: "shop" } },
    },
  ]);
});

inBrowser("what is wrong with a new agent is said at its field", async () => {
  const page = await open(`${agents}/new`);
  await page.getByLabel("Name").fill(" ");
  // If the model were filled in while Playwright types, what it types would be added to the model.
  await expect.poll(() => field(page, "Model").inputValue()).toBe("demo/echo");
  await field(page, "Model").fill("nobody");
  await button(page, "Create agent").click();
  await page.getByText("Must be provider/model, for example demo/echo.").waitFor();
  await expect.poll(() => page.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("Name").fill("Nobody's");
  await field(page, "Model").fill("nobody/model");
  await button(page, "Create agent").click();
  await page.getByText(/there is no provider nobody/i).waitFor();
  await expect.poll(() => field(page, "Model").getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("alertdialog").getByText("Leave without saving?").waitFor();
  await button(page, "Discard agent").click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
});

inBrowser("an import says what is wrong and where, then what it created", async () => {
  const page = await open(`${agents}/new?from=import`);
  const text = page.getByLabel("Export, as YAML or JSON");
  await button(page, "Import agents").click();
  await page.getByText("Paste an export, or choose a file.").waitFor();
  const document = (model: string) =>
    `beckon: 1\nagents:\n- name: ${JSON.stringify(xss)}\n  model: demo/echo\n- name: Shop\n  model: ${model}\n  tools:\n  - type: http\n    name: shop\n    allowed_hosts: [api.example.com]\n    headers:\n      Authorization: {secret: null}\n    operations:\n    - name: list\n      description: Lists orders.\n      method: GET\n      url: https://api.example.com/\n`;
  await text.fill(document("demo"));
  await button(page, "Import agents").click();
  await page.getByText("Nothing was imported.").waitFor();
  await button(page, "Show line 6").click();
  const selected = () =>
    text.evaluate((area) => {
      const { value, selectionStart, selectionEnd } = area as unknown as {
        value: string;
        selectionStart: number;
        selectionEnd: number;
      };
      return value.slice(selectionStart, selectionEnd);
    });
  await expect.poll(selected).toBe("  model: demo");
  await page.getByLabel("File to import").setInputFiles({
    name: "agents.yaml",
    mimeType: "application/yaml",
    buffer: Buffer.from(document("demo/echo")),
  });
  // The page reads the file asynchronously. Until the file is read, the button would import the
  // earlier text.
  await expect.poll(() => text.inputValue()).toBe(document("demo/echo"));
  await button(page, "Import agents").click();
  await page.getByText("Created 2 agents.").waitFor();
  await page.getByText("Enter again: tools.0.headers.Authorization").waitFor();
  await page.getByRole("link", { name: xss }).waitFor();
  await page.getByRole("link", { name: "Shop", exact: true }).click();
  await page.getByRole("navigation", { name: "Agent" }).getByText("Settings").click();
  const tool = page.getByRole("listitem").filter({ hasText: "shop" });
  await tool.getByText("Secret missing").waitFor();
});

inBrowser("agents are searched, and filters are in the URL", async () => {
  await beckon.createAgent({ name: "Zebra crossing", description: xss });
  const page = await open(agents);
  await page.getByRole("link", { name: /Zebra/ }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("/");
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("zebra");
  await page.waitForURL(/\?search=zebra$/);
  await page.getByRole("table", { name: "Agents" }).locator("tbody tr").nth(1).waitFor({
    state: "detached",
  });
  await page.goto(`${url}${agents}?search=none-has-this-name&paused=true`);
  await page.getByText("No agent matches.").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByRole("link", { name: /Zebra/ }).waitFor();
});

inBrowser("what is typed before the searched list is shown is kept", async () => {
  const page = await open(agents);
  await page.getByLabel("Search agents").waitFor();
  // Types a longer text at the moment at which the page puts the first text into the URL.
  await page.evaluate(`{
    const field = document.querySelector("[aria-label='Search agents']");
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
    const type = (text) => {
      set.call(field, text);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const replace = history.replaceState;
    history.replaceState = function (...args) {
      replace.apply(this, args);
      if (/search=none$/.test(args[2])) type("none-has-this-name");
    };
    type("none");
  }`);
  await page.waitForURL(/\?search=none-has-this-name$/);
  await page.getByText("No agent matches.").waitFor();
  await expect.poll(() => page.getByLabel("Search agents").inputValue()).toBe("none-has-this-name");
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect.poll(() => page.getByLabel("Search agents").inputValue()).toBe("");
});

inBrowser("an agent is paused with a reason and resumed, also seen by others", async () => {
  const { id } = await beckon.createAgent({ name: "Pausing" });
  const page = await open(`${agents}/${id}`);
  await button(page, "Pause").click();
  await page.getByLabel("Reason").fill("x".repeat(501));
  await button(page, "Pause agent").click();
  await page.getByText("Use at most 500 characters.").waitFor();
  await page.getByLabel("Reason").fill(xss);
  await button(page, "Pause agent").click();
  // Waits until the dialog is closed, because the dialog also contains the reason that is expected
  // below.
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("Paused: new runs are rejected or held.").waitFor();
  await page.getByText(xss).waitFor();
  await beckon.call(`/agents/${id}/resume`, { method: "POST" });
  await button(page, "Pause").waitFor();

  // The agent's page also shows a pause that happened while another page was open. The test waits
  // until the feed of the overview shows the pause, because then the dashboard has received the
  // event. The overview has a feed only if there are runs, so the test starts one.
  await beckon.call(`/agents/${id}/invoke`, { body: { input: "Hello" } });
  await page.getByRole("link", { name: "Overview" }).first().click();
  const feed = page.getByRole("list", { name: "Newest runs" });
  await feed.waitFor();
  await beckon.call(`/agents/${id}/pause`, { body: { reason: "Night shift" } });
  await feed.getByText("was paused: Night shift").waitFor();
  await page.goBack();
  await page.getByText("Paused: new runs are rejected or held.").waitFor();
});

inBrowser("an agent is duplicated, deleted, and restored by undo and from the list", async () => {
  const { id } = await beckon.createAgent({ name: "Short-lived" });
  const page = await open(`${agents}/${id}/versions`);
  const remove = async () => {
    await button(page, "More about this agent").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await button(page, "Delete agent").click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  };
  await remove();
  await button(page, "Undo").click();
  await page.getByRole("heading", { name: "Short-lived", level: 1 }).waitFor();
  // After the undo, the page opens the agent's first tab, whose field takes the focus. The focus
  // would close a menu that is already open, so the test waits for the field first.
  await field(page, "Message").waitFor();
  await remove();
  await page.getByRole("link", { name: "Deleted" }).click();
  await page.getByRole("columnheader", { name: "Restorable until" }).waitFor();
  await button(page, "Restore Short-lived").click();
  // Waits for the message with a button. The message of the earlier undo has the same title and can
  // still be shown, but it has no button.
  await page
    .locator("li", { hasText: "Restored Short-lived" })
    .getByRole("button", { name: "Open" })
    .waitFor();
  await page.goto(`${url}${agents}/${id}/versions`);
  await button(page, "More about this agent").click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.getByRole("heading", { name: "Short-lived (copy)", level: 1 }).waitFor();
});

inBrowser(
  "an agent with unsaved settings is duplicated, and deleted without a question",
  async () => {
    const { id } = await beckon.createAgent({ name: "Edited" });
    const page = await open(`${agents}/${id}/settings`);
    await field(page, "Instructions").fill("Not saved");
    const choose = async (action: string) => {
      await button(page, "More about this agent").click();
      await page.getByRole("menuitem", { name: action }).click();
    };
    await choose("Duplicate");
    const leave = page.getByRole("alertdialog", { name: "Leave without saving?" });
    await leave.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Created Edited (copy)", { exact: true }).waitFor();
    await choose("Delete");
    await button(page, "Delete agent").click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await page.getByText("Deleted Edited", { exact: true }).waitFor();
  },
);

inBrowser("versions are compared by line and restored", async () => {
  const id = await agentWithVersions("Versioned");
  const page = await open(`${agents}/${id}/versions`);
  const changes = page.getByRole("list", { name: "Changes" });
  await changes.getByText(xss).waitFor();
  await changes.getByText("Steps", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByLabel("With version").selectOption("Version 1");
  await page.waitForURL(/\?from=1&to=1$/);
  await page
    .getByText("These versions are equal. New values of secrets are not part of a version")
    .waitFor();
  const versions = page.getByRole("list", { name: "Versions" });
  await versions.getByRole("link", { name: "Version 1" }).click();
  await page.waitForURL(/\?from=2&to=1$/);
  await changes.getByText(xss).waitFor();
  await button(page, "Restore version 1").click();
  await page.getByText(/This creates version 3, equal to version 1/).waitFor();
  await page
    .getByText(/that version 1 does not use are deleted, so versions in between that use them/)
    .waitFor();
  await button(page, "Restore version 1").last().click();
  await page.getByText("Version 3 is current").first().waitFor();
  const { body } = await beckon.call(`/agents/${id}`);
  expect(body.data).toMatchObject({ version: 3, instructions: "Be brief.\nBe kind." });
});

inBrowser("a viewer sees agents and cannot change them", async () => {
  const id = await agentWithVersions("Watched");
  const viewer = await addPerson(beckon, { role: "viewer" });
  const page = await open(`${agents}/${id}/versions`, { as: viewer, viewport: viewports.narrow });
  await page.getByRole("heading", { name: "Watched", level: 1 }).waitFor();
  for (const name of ["Pause", "Restore version 1"])
    await expect.poll(() => button(page, name).getAttribute("aria-disabled")).toBe("true");
  await page.goto(`${url}${agents}/new`);
  await page.getByText("New agents need the role editor.").waitFor();
  await expect
    .poll(() =>
      page.locator("html").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    )
    .toBe(0);
});

inBrowser("on a phone, the open tab is visible and a short page does not scroll", async () => {
  const id = await agentWithVersions("Small");
  const page = await open(`${agents}/${id}/versions`, { viewport: viewports.phone });
  const tabs = page.getByRole("navigation", { name: "Agent" });
  await page.getByText("Version 1").first().waitFor();
  await expect
    .poll(async () => {
      const row = await tabs.boundingBox();
      const tab = await tabs.getByRole("link", { name: "Versions" }).boundingBox();
      return row && tab && Math.round(tab.x + tab.width - row.x - row.width);
    })
    .toBeLessThanOrEqual(0);
  // Higher than a common phone, since the page says much about the first trigger.
  const height = viewports.phone.height + 100;
  await page.setViewportSize({ ...viewports.phone, height });
  await page.goto(`${url}${agents}/${id}/triggers`);
  await page.getByRole("link", { name: "Triggers" }).and(page.locator("[aria-current]")).waitFor();
  await expect.poll(() => page.evaluate("document.documentElement.scrollHeight")).toBe(height);
});
