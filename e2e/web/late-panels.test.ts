import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRendering } from "./hold-rendering.ts";

/**
 * The code of menus and popovers is loaded after the first paint. It can arrive while the button
 * that opens them is pressed, and the press must open them nevertheless.
 */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));

/**
 * Opens the list of keys, and holds back the chunk of its code whose name begins with `file`.
 * @returns the page, and a function that delivers the chunk
 */
async function openWithout(file: string): Promise<[page: Page, deliver: () => Promise<void>]> {
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}/keys` });
  await page.addInitScript(holdRendering);
  const wanted = Promise.withResolvers<string>();
  const released = Promise.withResolvers<void>();
  await page.route(`**/assets/${file}-*.js`, async (route) => {
    wanted.resolve(route.request().url());
    await released.promise;
    await route.continue();
  });
  await page.reload();
  const url = await wanted.promise;
  const deliver = async () => {
    released.resolve();
    // The page has started to import the same chunk earlier. So the page's import has resolved
    // when this one resolves.
    await page.evaluate(`import(${JSON.stringify(url)}).then(() => undefined)`);
  };
  return [page, deliver];
}

inBrowser(
  "a menu that is pressed after its code has arrived, but before it is rendered, stays open",
  async () => {
    const [page, deliver] = await openWithout("menu-panel");
    const account = page.getByRole("button", { name: "Account of Ada" });
    await account.waitFor();
    await page.evaluate("setHeld(true)");
    await deliver();
    await account.click();
    await page.evaluate("setHeld(false)");
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("End");
    const signOut = page.getByRole("menuitem", { name: "Sign out" });
    await expect.poll(() => signOut.evaluate((item) => item.matches(":focus"))).toBe(true);
  },
);

inBrowser("a popover opens whose code arrives between press and release", async () => {
  const [page, deliver] = await openWithout("popover-panel");
  const scopes = page.getByRole("button", { name: /^Scopes of/ }).first();
  await scopes.hover();
  await page.mouse.down();
  await deliver();
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
  await page.mouse.up();
  await page.getByRole("dialog", { name: /^Scopes of/ }).waitFor();
});
