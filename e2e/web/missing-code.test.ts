import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { removeFiles } from "../../server/test/chromium.ts";
import { setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

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

/**
 * Serves Beckon without some files, at the returned URL. Playwright intercepts requests for the
 * script of a SharedWorker unreliably: some never get a response.
 */
async function serveWithout(files: RegExp): Promise<string> {
  const server = createServer((received, response) => {
    if (files.test(received.url ?? "")) {
      response.writeHead(404).end();
      return;
    }
    const { method, headers } = received;
    const forwarded = request(new URL(received.url ?? "", beckon.url), { method, headers });
    forwarded.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on("close", () => forwarded.destroy());
    forwarded.on("error", () => response.destroy());
    received.pipe(forwarded);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

inBrowser("a page whose shared worker cannot be loaded gets live updates itself", async () => {
  const url = await serveWithout(/\/assets\/worker-/);
  const page = await openDashboard(url, { as: owner, path: `/w/${owner.workspaceId}` });
  await page.getByTitle("Live", { exact: true }).waitFor();
});

const openAudit = async () => {
  const page = await open("/providers");
  await page.getByRole("heading", { name: "Providers", level: 1 }).waitFor();
  return {
    page,
    click: () => page.getByRole("link", { name: "Audit", exact: true }).first().click(),
  };
};
const audit = (page: Page) => page.getByRole("table", { name: "Audit log" });

inBrowser("a page that cannot be loaded while the server cannot be reached says so", async () => {
  const { page, click } = await openAudit();
  const restore = await removeFiles(page.context(), /\/assets\/audit-screen-|\/w\/\w+\/audit/);
  await click();
  await page.getByText("Beckon was updated").waitFor();
  await expectAccessible(page);
  await restore();
  await button(page, "Reload page").click();
  await audit(page).waitFor();
});

inBrowser("a page whose code is gone after an update is loaded by itself", async () => {
  const { page, click } = await openAudit();
  const restore = await removeFiles(page.context(), /\/assets\/audit-screen-/);
  // From the moment when the page asks for itself, all files are there.
  await page.route(/\/w\/\w+\/audit$/, async (route) => {
    await restore();
    await route.continue();
  });
  await click();
  await audit(page).waitFor();
});

inBrowser("a page whose code stays missing is reloaded once, and then offers it", async () => {
  const { page, click } = await openAudit();
  const restore = await removeFiles(page.context(), /\/assets\/audit-screen-/);
  let loads = 0;
  page.on("domcontentloaded", () => {
    loads += 1;
  });
  await click();
  await expect.poll(() => loads).toBe(1);
  await page.getByText("Beckon was updated").waitFor();
  await page.getByRole("link", { name: "Providers", exact: true }).first().click();
  await page.getByRole("heading", { name: "Providers", level: 1 }).waitFor();
  await click();
  await page.getByText("Beckon was updated").waitFor();
  expect(loads).toBe(1);
  await restore();
  await button(page, "Reload page").click();
  await audit(page).waitFor();
});

inBrowser("a page is not reloaded by itself while something is unsaved", async () => {
  const page = await open(`/agents/${agent.id}/settings`);
  const instructions = page.getByRole("textbox", { name: "Instructions", exact: true });
  await instructions.fill("Typed before");
  await removeFiles(page.context(), /\/assets\/playground-screen-/);
  const tabs = page.getByRole("navigation", { name: "Agent" });
  const asked = page.waitForResponse((response) => response.request().method() === "HEAD");
  await tabs.getByRole("link", { name: "Playground" }).click();
  await page.getByText("Beckon was updated").waitFor();
  expect((await asked).ok()).toBe(true);
  await tabs.getByRole("link", { name: "Settings" }).click();
  await instructions.waitFor();
  expect(await instructions.inputValue()).toBe("Typed before");
});
