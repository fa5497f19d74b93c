import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { apiOf } from "./api.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const api = apiOf(beckon.url, owner);
const workspace = `/w/${owner.workspaceId}`;
const agent = await api("/agents", { name: "Refund desk", model: "demo/echo" });
await api("/keys", { name: "Shop", scopes: ["runs:read"] });
const first = await beckon.invoke(agent, "Hello");
const retry = await api(`/runs/${first.body.run_id}/retry`, {});

const dialog = (page: Page) => page.getByRole("dialog");
async function closeDialog(page: Page) {
  await dialog(page).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => dialog(page).count()).toBe(0);
}
const expectPath = (page: Page, path: string) =>
  expect.poll(() => new URL(page.url()).pathname + new URL(page.url()).search).toBe(path);

inBrowser.each([
  ["a key", "Keys", (page: Page) => page.getByRole("link", { name: "Shop", exact: true }).click()],
  [
    "an edited key",
    "Keys",
    async (page: Page) => {
      await page.getByRole("link", { name: "Shop", exact: true }).click();
      await dialog(page).getByRole("button", { name: "Edit" }).click();
      await dialog(page).getByLabel("Name").waitFor();
    },
  ],
  [
    "an entry of the audit log",
    "Audit",
    (page: Page) =>
      page.getByRole("table", { name: "Audit log" }).getByRole("link").first().click(),
  ],
])("after %s is closed, Back leads to the page before", async (_, screen, show) => {
  const page = await openDashboard(beckon.url, { as: owner, path: `${workspace}/agents` });
  await page.getByRole("link", { name: screen, exact: true }).click();
  await show(page);
  await closeDialog(page);
  await expectPath(page, `${workspace}/${screen.toLowerCase()}`);
  await page.goBack();
  await expectPath(page, `${workspace}/agents`);
});

inBrowser("after a new trigger is cancelled, Back leads to the page before", async () => {
  const ofAgent = `${workspace}/agents/${agent.id}`;
  const page = await openDashboard(beckon.url, { as: owner, path: `${ofAgent}/runs` });
  await page.getByRole("link", { name: "Triggers", exact: true }).click();
  await page.getByRole("link", { name: "New trigger" }).click();
  await closeDialog(page);
  await expectPath(page, `${ofAgent}/triggers`);
  await page.goBack();
  await expectPath(page, `${ofAgent}/runs`);
});

inBrowser("a dialog that a link has opened closes, although nothing was added", async () => {
  const path = `${workspace}/runs/${retry.id}`;
  const page = await openDashboard(beckon.url, { as: owner, path: `${path}?compare=1` });
  await closeDialog(page);
  await expectPath(page, path);
  await page.getByRole("button", { name: "Compare with the earlier run" }).click();
  await closeDialog(page);
  await page.goForward();
  await closeDialog(page);
  await expectPath(page, path);
});

inBrowser("on a phone, Back leads from the closed detail of a step to the runs", async () => {
  const options = { as: owner, path: `${workspace}/runs`, viewport: viewports.phone };
  const page = await openDashboard(beckon.url, options);
  await page.getByRole("table", { name: "Runs" }).getByRole("link").first().click();
  const steps = page.getByRole("tree", { name: "Steps" });
  for (const tab of ["input", "journal"]) {
    await steps.getByRole("treeitem").first().click();
    await page.getByRole("tab", { name: tab }).click();
    await page.getByRole("button", { name: "Steps", exact: true }).click();
    await steps.waitFor();
    // What was chosen beside the detail stays as it is.
    await expectPath(page, `${workspace}/runs/${retry.id}?tab=${tab}`);
  }
  await page.goBack();
  await expectPath(page, `${workspace}/runs`);
});
