import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { removeFiles } from "../../server/test/chromium.ts";
import { setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { cookieFor } from "./viewports.ts";

/** Tests pages that stay open while the server gets another build, which has other files. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const agent = await beckon.createAgent({ name: "Refund desk" });
const open = (path: string) =>
  openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}${path}` });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const notice = (page: Page) =>
  page.getByRole("alert").filter({ hasText: "A part of this page could not be loaded." });

inBrowser("a part that cannot be loaded is loaded later, and what was typed stays", async () => {
  const page = await open("/agents/new?from=blank");
  const restore = await removeFiles(page.context(), /\/assets\/model-picker-/);
  await page.getByLabel("Name").fill("Typed before");
  await button(page, "Choose a model").click();
  await notice(page).getByText("Beckon was updated").waitFor();
  await expectAccessible(page);
  expect(await page.getByLabel("Name").inputValue()).toBe("Typed before");
  await restore();
  await button(page, "Try again").click();
  await page.getByRole("option", { name: /echo/ }).waitFor();
  await notice(page).waitFor({ state: "detached" });
  expect(await page.getByLabel("Name").inputValue()).toBe("Typed before");
});

inBrowser("a dialog that could not be loaded opens at the next press", async () => {
  const page = await open(`/agents/${agent.id}/connect`);
  const restore = await removeFiles(page.context(), /\/assets\/pause-dialog-/);
  await button(page, "Pause").click();
  await notice(page).getByRole("button", { name: "Close" }).click();
  await notice(page).waitFor({ state: "detached" });
  await button(page, "Pause").click();
  await notice(page).waitFor();
  await button(page, "Close").click();
  await restore();
  await button(page, "Pause").click();
  await page.getByRole("dialog").waitFor();
  await expect.poll(() => notice(page).count()).toBe(0);
});

inBrowser("a page whose shared worker cannot be loaded gets live updates itself", async () => {
  const page = await openDashboard(beckon.url, { path: "/sign-in" });
  await removeFiles(page.context(), /\/assets\/worker-/);
  await page.context().addCookies([cookieFor(beckon.url, owner.cookie)]);
  await page.goto(`${beckon.url}/w/${owner.workspaceId}`);
  await page.getByTitle("Live", { exact: true }).waitFor();
});

inBrowser("a page that cannot be loaded offers to reload it", async () => {
  const page = await open("/providers");
  await page.getByRole("heading", { name: "Providers", level: 1 }).waitFor();
  const restore = await removeFiles(page.context(), /\/assets\/audit-screen-/);
  await page.getByRole("link", { name: "Audit", exact: true }).first().click();
  await page.getByText("Beckon was updated").waitFor();
  await expectAccessible(page);
  await restore();
  await button(page, "Reload page").click();
  await page.getByRole("table", { name: "Audit log" }).waitFor();
});
