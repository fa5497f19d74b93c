import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { insecureHost } from "../../server/test/browser.ts";
import { setupToken } from "../../server/test/people.ts";
import { freePort } from "../product.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/**
 * Tests the dashboard over plain HTTP at a host that is not localhost, as in a private network.
 * Such a page is not a secure context, so it has no clipboard API.
 */

const port = String(await freePort());
const url = `http://${insecureHost}:${port}`;
const beckon = await startTestBeckon({ PORT: port, PUBLIC_URL: url });
/** URL of the same server for Node.js: only the browser resolves `insecureHost`. */
const local = `http://127.0.0.1:${port}`;
const owner = await createOwner(local, await setupToken(beckon));
const start = `/w/${owner.workspaceId}`;

const post = async (path: string, body: unknown, credential = beckon.key) =>
  (await beckon.call(`${local}/api/public${path}`, { credential, body })).body;
const createAgent = async (name: string): Promise<{ id: string; token: string }> =>
  (await post("/agents", { name, model: "demo/echo" })).data;

/** Signs in at the insecure address and opens a path. */
async function openSignedIn(path: string): Promise<Page> {
  const next = `/sign-in?next=${encodeURIComponent(start + path)}`;
  const page = await openDashboard(url, { path: next });
  await expect
    .poll(() => page.evaluate("[isSecureContext, navigator.clipboard]"))
    .toEqual([false, undefined]);
  await page.getByLabel("E-mail").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(url + start + path);
  return page;
}

/** Pastes into the field of the command palette, and waits until the field has this value. */
async function expectPasted(page: Page, value: string): Promise<void> {
  await page.keyboard.press("Control+K");
  const field = page.getByRole("combobox", { name: "Find, go and act" });
  await field.and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Control+V");
  await expect.poll(() => field.inputValue()).toBe(value);
}

inBrowser("a revealed token is copied, stays shown, and the copy is confirmed", async () => {
  const agent = await createAgent("Refund desk");
  const page = await openSignedIn(`/agents/${agent.id}/connect`);
  await page.getByRole("button", { name: "Reveal" }).click();
  const field = page.getByRole("group", { name: "Token of this agent" });
  await field.getByText(agent.token).waitFor();
  // The confirmation is shown for two seconds only.
  const copied = field.getByRole("status").getByText("Copied").waitFor();
  await field.getByRole("button", { name: "Copy Token of this agent" }).click();
  await copied;
  await field.getByText(agent.token).waitFor();
  await expectPasted(page, agent.token);
});

inBrowser("a key is copied from the dialog that shows it once", async () => {
  const page = await openSignedIn("/keys?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: /^Observer/ }).click();
  await dialog.getByRole("button", { name: "Create key" }).click();
  const key = (await dialog.getByText(/^bkw_/).textContent()) ?? "";
  // The confirmation is shown for two seconds only.
  const copied = dialog.getByRole("status").getByText("Copied").waitFor();
  await dialog.getByRole("button", { name: "Copy API key" }).click();
  await copied;
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await dialog.waitFor({ state: "detached" });
  await expectPasted(page, key);
});

inBrowser("runs appear as they start", async () => {
  const agent = await createAgent("Watched");
  const page = await openSignedIn("");
  await expect.poll(() => page.evaluate("'SharedWorker' in globalThis")).toBe(true);
  await page.getByTitle("Live", { exact: true }).waitFor();
  await post(`/agents/${agent.id}/invoke`, { input: "Hello" }, agent.token);
  const feed = page.getByRole("list", { name: "Newest runs" });
  await feed.getByRole("link", { name: "Watched" }).waitFor();
});
