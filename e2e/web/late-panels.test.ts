import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRendering } from "./hold-rendering.ts";
import { renderFrames } from "./hold-requests.ts";

/**
 * Screens, menus and popovers load their code when they are needed, so it can arrive while a person
 * is doing something else. A pressed button must open its menu nevertheless, and a screen must not
 * take the focus away.
 */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const agent = await beckon.createAgent({ name: "Refund desk" });

/** A page that waits for a chunk, and a function that delivers it. */
type Waiting = [page: Page, deliver: () => Promise<void>];

/** Opens the list of keys, and holds back the chunk of its code whose name begins with `file`. */
async function openKeysWithout(file: string): Promise<Waiting> {
  const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}/keys` });
  await page.addInitScript(holdRendering);
  return [page, await hold(page, file, () => page.reload())];
}

/** Opens an agent's settings, then its playground, whose code is held back. */
async function openPlaygroundWithoutCode(): Promise<Waiting> {
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${owner.workspaceId}/agents/${agent.id}/settings`,
  });
  const playground = page.getByRole("link", { name: "Playground" });
  const deliver = await hold(page, "playground-screen", () => playground.press("Enter"));
  return [page, deliver];
}

/**
 * Opens the list of agents, then an agent's playground, whose code is held back. Only the frame
 * with the agent's name and actions is shown.
 */
async function openAgentWithoutPlayground(): Promise<Waiting> {
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${owner.workspaceId}/agents`,
  });
  const row = page.getByRole("link", { name: "Refund desk" });
  const deliver = await hold(page, "playground-screen", () => row.press("Enter"));
  return [page, deliver];
}

/**
 * Holds back the chunk whose name begins with `file`, and waits until the page requests it during
 * `action`.
 * @returns a function that delivers the chunk
 */
async function hold(
  page: Page,
  file: string,
  action: () => Promise<unknown>,
): Promise<() => Promise<void>> {
  const wanted = Promise.withResolvers<string>();
  const released = Promise.withResolvers<void>();
  await page.route(`**/assets/${file}-*.js`, async (route) => {
    wanted.resolve(route.request().url());
    await released.promise;
    await route.continue();
  });
  await action();
  const url = await wanted.promise;
  return async () => {
    released.resolve();
    // Waits until the page's own import of the chunk has resolved. That import began earlier, so
    // it has resolved when this second import of the same chunk resolves.
    await page.evaluate(`import(${JSON.stringify(url)}).then(() => undefined)`);
  };
}

inBrowser(
  "a menu that is pressed after its code has arrived, but before it is rendered, stays open",
  async () => {
    const [page, deliver] = await openKeysWithout("menu-panel");
    const account = page.getByRole("button", { name: "Account of Ada" });
    await account.waitFor();
    await page.evaluate("setHeld(true)");
    await deliver();
    await account.click();
    await page.evaluate("setHeld(false)");
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("End");
    const signOut = page.getByRole("menuitem", { name: "Sign out" });
    await expect.poll(() => hasFocus(signOut)).toBe(true);
  },
);

inBrowser("a popover opens whose code arrives between press and release", async () => {
  const [page, deliver] = await openKeysWithout("popover-panel");
  const scopes = page.getByRole("button", { name: /^Scopes of/ }).first();
  await scopes.hover();
  await page.mouse.down();
  await deliver();
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
  await page.mouse.up();
  await page.getByRole("dialog", { name: /^Scopes of/ }).waitFor();
});

const hasFocus = (target: Locator) => target.evaluate((element) => element.matches(":focus"));

for (const [overlay, name, role] of [
  ["menu", /^Account of Ada$/, "menu"],
  ["popover", /^Scopes of/, "dialog"],
] as const)
  inBrowser(
    `a button keeps the focus when the code of its ${overlay} arrives, and Enter opens it`,
    async () => {
      const [page, deliver] = await openKeysWithout(`${overlay}-panel`);
      const button = page.getByRole("button", { name }).first();
      await button.focus();
      await deliver();
      await renderFrames(page);
      expect(await hasFocus(button)).toBe(true);
      await page.keyboard.press("Enter");
      const opened = page.getByRole(role);
      await expect.poll(() => opened.and(page.locator(":focus-within")).count()).toBe(1);
      await page.keyboard.press("Escape");
      await opened.waitFor({ state: "detached" });
      await expect.poll(() => hasFocus(button)).toBe(true);
    },
  );

/** Holds back the timers without a delay, in which the focus returns to what opened an overlay. */
const holdTimers = `
  const wait = setTimeout;
  const held = [];
  setTimeout = (act, ms, ...rest) => (ms ? wait(act, ms, ...rest) : held.push(act));
  globalThis.releaseTimers = () => {
    setTimeout = wait;
    for (const act of held) act();
  };
`;

for (const [overlay, name, role] of [
  ["menu", /^Account of Ada$/, "menu"],
  ["popover", /^Scopes of/, "dialog"],
  ["dialog", /^New key$/, "dialog"],
] as const)
  inBrowser(`a ${overlay} that has closed leaves the focus in the palette`, async () => {
    const path = `/w/${owner.workspaceId}/keys`;
    const page = await openDashboard(beckon.url, { as: owner, path });
    await page.getByRole("button", { name }).first().click();
    await page.getByRole(role).and(page.locator(":focus-within")).waitFor();
    await page.evaluate(`{${holdTimers}}`);
    await page.keyboard.press("Escape");
    await page.getByRole(role).waitFor({ state: "detached" });
    await page.keyboard.press("Control+K");
    const find = page.getByRole("combobox", { name: "Find, go and act" });
    await expect.poll(() => hasFocus(find)).toBe(true);
    await page.evaluate("releaseTimers()");
    expect(await hasFocus(find)).toBe(true);
  });

inBrowser("a screen that is shown late leaves the focus in an open dialog", async () => {
  const [page, deliver] = await openAgentWithoutPlayground();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  const dialog = page.getByRole("dialog").and(page.locator(":focus-within"));
  await dialog.waitFor();
  await deliver();
  await page.getByRole("textbox", { name: "Message", includeHidden: true }).waitFor();
  await renderFrames(page);
  expect(await dialog.count()).toBe(1);
});

inBrowser("a menu stays open when a screen is shown late", async () => {
  const [page, deliver] = await openAgentWithoutPlayground();
  await page.getByRole("button", { name: "More about this agent" }).click();
  const menu = page.getByRole("menu").and(page.locator(":focus-within"));
  await menu.waitFor();
  await deliver();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await renderFrames(page);
  expect(await menu.count()).toBe(1);
});

inBrowser("a playground whose code arrives late leaves the focus where it was moved", async () => {
  const [page, deliver] = await openPlaygroundWithoutCode();
  const pause = page.getByRole("button", { name: "Pause" });
  await pause.focus();
  await deliver();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await renderFrames(page);
  expect(await hasFocus(pause)).toBe(true);
});

inBrowser("a playground whose code arrives late focuses its message field", async () => {
  const [page, deliver] = await openPlaygroundWithoutCode();
  await deliver();
  const message = page.getByRole("textbox", { name: "Message" });
  await expect.poll(() => hasFocus(message)).toBe(true);
});
