import type { Locator, Page, Route } from "playwright-core";
import { expect } from "vitest";
import { addRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

/** Tests forms in dialogs that wait for the response to their request. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const workspace = `/w/${owner.workspaceId}`;

const open = (path: string) => openDashboard(beckon.url, { as: owner, path: workspace + path });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

inBrowser("a form cannot be closed while it is saved, and shows why it was not saved", async () => {
  const page = await open("/plan?ceiling=new");
  const dialog = page.getByRole("dialog", { name: "New ceiling" });
  const amount = dialog.getByLabel("Maximum cost of runs a day");
  const rejection = { ok: false, error: "It was rejected.", code: "bad_request" };
  const held = await holdRequests(page, /\/limits\//, {
    method: "PUT",
    handle: (route) => route.fulfill({ status: 400, json: rejection }),
  });
  await amount.fill("5");
  await button(page, "Set ceiling").click();
  await held.reached;
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await dialog.getByRole("button", { name: "Cancel", disabled: true }).hover();
  await page.getByRole("tooltip").getByText("closing would not stop the request").waitFor();
  expect(await page.getByRole("alertdialog").count()).toBe(0);
  await held.release();
  await dialog.getByText("It was rejected.").waitFor();
  expect(await amount.inputValue()).toBe("5");
  await page.keyboard.press("Escape");
  await button(page, "Discard changes").click();
  await dialog.waitFor({ state: "detached" });
});

const reject = (route: Route) =>
  route.fulfill({ status: 400, json: { ok: false, error: "No.", code: "bad_request" } });

inBrowser("text that would not be sent cannot be typed while a form is sent", async () => {
  const page = await open("/agents/new");
  for (const [path, url, label, submit] of [
    ["/agents/new", /\/agents$/, "Instructions", "Create agent"],
    ["/providers?new=1", /\/providers$/, "API key", "Add and check"],
  ] as const) {
    await page.evaluate(`history.pushState({}, "", ${JSON.stringify(workspace + path)})`);
    const field = page.getByRole("main").or(page.getByRole("dialog")).getByLabel(label).last();
    await field.fill("sk-0123456789");
    if (submit === "Create agent") {
      await expect.poll(() => page.getByLabel("Model", { exact: true }).inputValue()).not.toBe("");
      await page.getByRole("textbox", { name: "Name", exact: true }).fill("Desk");
    }
    const held = await holdRequests(page, url, { method: "POST", handle: reject });
    await button(page, submit).click();
    await held.reached;
    await field.and(page.locator("[readonly]")).waitFor();
    await held.release();
    await field.and(page.locator(":not([readonly])")).waitFor();
  }
});

/** Returns the value of every control of the open dialog, and whether it is checked. */
const valuesIn = (page: Page): Promise<unknown> =>
  page.evaluate(`Array.from(
    document.querySelectorAll("[role=dialog] :is(input, textarea, select)"),
    ({ value, checked }) => [value, checked],
  )`);

/** Tries to change every control of a form with the keyboard. */
async function changeAll(page: Page, dialog: Locator): Promise<void> {
  for (const control of await dialog.locator("input, textarea, select").all()) {
    await control.focus();
    await page.keyboard.press("7");
    await page.keyboard.press("ArrowDown");
  }
  for (const box of await dialog.locator("[type=checkbox], [type=radio]").all()) {
    await box.focus();
    await page.keyboard.press("Space");
  }
}

inBrowser("nothing in a dialog can be changed while its form is sent", async () => {
  const agent = await beckon.createAgent();
  const page = await open("/keys");
  for (const [path, method, url, label, text] of [
    ["/plan?ceiling=new", "PUT", /\/limits\//, "Maximum cost of runs a day", "500"],
    ["/keys?new=1", "POST", /\/keys$/, "Name", "Shop"],
    ["/members?dialog=invite", "POST", /\/invitations$/, "E-mail", "grace@example.com"],
    [`/agents/${agent.id}/triggers?new=blank`, "POST", /\/triggers$/, "Name", "Shop"],
    ["/subscriptions?new=1", "POST", /\/subscriptions$/, "URL", "https://example.com/"],
  ] as const) {
    await page.evaluate(`history.pushState({}, "", ${JSON.stringify(workspace + path)})`);
    const dialog = page.getByRole("dialog");
    const field = dialog.getByLabel(label, { exact: true });
    await field.fill(text);
    if (path.endsWith("?new=blank")) await dialog.getByLabel("CloudEvents 1.0").waitFor();
    if (label === "URL")
      await dialog.getByRole("button", { name: "Payload, secret and headers" }).click();
    // A ceiling can be sent only once it is known whether one exists.
    await dialog.locator("button[type=submit]:enabled").waitFor();
    const held = await holdRequests(page, url, { method, handle: reject });
    await field.press("Enter");
    await held.reached;
    await dialog.locator("button[aria-busy=true]").waitFor();
    await field.and(page.locator(":focus")).waitFor();
    const sent = await valuesIn(page);
    await changeAll(page, dialog);
    expect(await valuesIn(page), path).toEqual(sent);
    if (label === "URL") {
      await dialog.getByRole("button", { name: "Add header", disabled: true }).waitFor();
      await expectAccessible(page);
    }
    await held.release();
    await dialog.getByText("No.", { exact: true }).waitFor();
    await changeAll(page, dialog);
    expect(await valuesIn(page), path).not.toEqual(sent);
    await page.keyboard.press("Escape");
    await button(page, "Discard changes").click();
    await dialog.waitFor({ state: "detached" });
  }
});

inBrowser(
  "a checkbox is sent as it is shown after it was pressed while a form was sent",
  async () => {
    const agent = await beckon.createAgent();
    const page = await open(`/agents/${agent.id}/triggers?new=blank`);
    const dialog = page.getByRole("dialog");
    const box = dialog.getByRole("checkbox");
    await dialog.getByLabel("Name", { exact: true }).fill("Shop");
    const held = await holdRequests(page, /\/triggers$/, { method: "POST", handle: reject });
    await button(page, "Create").click();
    await held.reached;
    await box.click({ force: true });
    expect(await box.isChecked()).toBe(false);
    await held.release();
    await dialog.getByText("No.", { exact: true }).waitFor();
    await box.check();
    const request = page.waitForRequest((sent) => sent.method() === "POST");
    await button(page, "Create").click();
    expect((await request).postDataJSON()).toMatchObject({ allows_callback: true });
  },
);

/** Leaves a page by the Back button while it waits for the response to a form. */
async function leaveByBack(page: Page): Promise<void> {
  await page.evaluate("history.back()");
  const question = page.getByRole("alertdialog", {
    name: "Leave before the server has responded?",
  });
  await question.getByRole("button", { name: "Leave page" }).click();
  await page.waitForURL(/\/keys$/);
}

inBrowser("a form that was left while it was saved closes no other dialog later", async () => {
  const page = await open("/keys");
  const openForm = async () => {
    await page.getByRole("link", { name: "Plan" }).first().click();
    await button(page, "New ceiling").click();
  };
  await openForm();
  const amount = page.getByLabel("Maximum cost of runs a day");
  const held = await holdRequests(page, /\/limits\//, { method: "PUT" });
  await amount.fill("5");
  await button(page, "Set ceiling").click();
  await held.reached;
  await leaveByBack(page);
  await openForm();
  await amount.fill("7");
  await held.release();
  await page.getByText("Set the ceiling of the workspace").first().waitFor();
  expect(await amount.inputValue()).toBe("7");
  expect(await page.getByRole("alertdialog").count()).toBe(0);
});

inBrowser("a form that was left while it was saved opens no page later", async () => {
  const { id: agentId } = await beckon.createAgent();
  const runId = await addRun(beckon.db.database, { workspaceId: owner.workspaceId, agentId });
  const page = await open("/keys");
  for (const [path, label, typed, submit, url, done] of [
    ["/settings?dialog=new", "Name", "Left", "Create workspace", /\/workspaces$/, /^Created the/],
    [`/runs/${runId}`, "Input", "Changed", "Start run", /\/retry$/, /^The retry has started/],
  ] as const) {
    await page.evaluate(`history.pushState({}, "", ${JSON.stringify(workspace + path)})`);
    if (label === "Input") {
      await button(page, "Retry").click();
      await page.getByRole("menuitem", { name: "With another input" }).click();
    }
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(label).fill(typed);
    const held = await holdRequests(page, url, { method: "POST", isSent: true });
    await dialog.getByRole("button", { name: submit }).click();
    await held.reached;
    await leaveByBack(page);
    await held.release();
    await page.getByText(done).first().waitFor();
    await renderFrames(page);
    expect(new URL(page.url()).pathname).toBe(`${workspace}/keys`);
  }
});

inBrowser("a request that fails after its dialog was closed says so", async () => {
  const { body } = await beckon.call("/subscriptions", {
    body: { url: "https://example.com", event_types: ["run.finished"] },
  });
  const receiving = { verification: { kind: "header", header: "x-key" } };
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, { receiving });
  const page = await open("/keys");
  for (const [path, submit, error] of [
    [`/subscriptions/${body.data.id}?act=replay`, "Replay", "No delivery."],
    [`/subscriptions/${body.data.id}?act=test`, "Send test", "No test."],
    [`/agents/${agent.id}/triggers/${trigger.id}?act=replay`, "Replay", "No request."],
  ] as const) {
    await page.evaluate(`history.pushState({}, "", ${JSON.stringify(workspace + path)})`);
    const json = { ok: false, error, code: "bad_request" };
    const held = await holdRequests(page, /\/(replay|test)$/, {
      times: 1,
      handle: (route) => route.fulfill({ status: 400, json }),
    });
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: submit, exact: true }).click();
    await held.reached;
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await held.release();
    await page.getByText(`“${submit}” failed.`).last().waitFor();
    await page.getByText(error, { exact: true }).first().waitFor();
  }
});
