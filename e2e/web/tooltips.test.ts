import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson } from "../../server/test/people.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/**
 * Tests tooltips and tabs, which the dashboard implements itself, and menus, whose code is loaded
 * after the first paint.
 */

const beckon = await startTestBeckon();
const viewer = await addPerson(beckon, { role: "viewer" });
const { body: me } = await viewer.call("/me");
const workspaceId: string = me.data.workspaces[0].id;

async function openConnect(options: Parameters<typeof openDashboard>[1] = {}) {
  const agent = await beckon.createAgent();
  const path = `/w/${workspaceId}/agents/${agent.id}/connect`;
  return openDashboard(beckon.url, { as: viewer, path, ...options });
}

inBrowser("a tooltip opens on hover, can be hovered itself, and Escape closes it", async () => {
  const page = await openConnect();
  const reveal = page.getByRole("button", { name: "Reveal" });
  const tooltip = page.getByRole("tooltip");
  await reveal.hover();
  await tooltip.getByText("This needs the role editor.").waitFor();
  const id = await tooltip.getAttribute("id");
  await expect.poll(() => reveal.getAttribute("aria-describedby")).toBe(id);
  await tooltip.hover();
  await tooltip.getByText("This needs the role editor.").click();
  await tooltip.waitFor();
  await page.keyboard.press("Escape");
  await tooltip.waitFor({ state: "detached" });
  await expect.poll(() => reveal.getAttribute("aria-describedby")).toBeNull();
});

inBrowser("a tooltip opens on visible focus and closes when the focus leaves", async () => {
  const page = await openConnect();
  await page.getByRole("button", { name: "Reveal" }).waitFor();
  await page.getByRole("tab", { name: "curl" }).focus();
  for (const name of ["Reveal", "Rotate"]) {
    const button = page.getByRole("button", { name });
    await page.keyboard.press("Shift");
    await button.focus();
    await page.getByRole("tooltip").waitFor();
    await expect.poll(() => page.getByRole("tooltip").count()).toBe(1);
    const bottomOf = async (target: Locator) => {
      const box = await target.boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0);
    };
    await expect
      .poll(async () => (await bottomOf(button)) - (await bottomOf(page.getByRole("tooltip"))))
      .toBeGreaterThan(0);
  }
  await page.getByRole("tab", { name: "curl" }).focus();
  await page.getByRole("tooltip").waitFor({ state: "detached" });
});

inBrowser("a tap shows why a button is disabled, and a tap elsewhere hides it", async () => {
  const page = await openConnect({ hasTouch: true });
  const reveal = page.getByRole("button", { name: "Reveal" });
  // Playwright waits until a button is enabled, unless it is forced.
  await reveal.tap({ force: true });
  await page.getByRole("tooltip", { name: "This needs the role editor." }).waitFor();
  await page.getByRole("tab", { name: "Python" }).tap();
  await page.getByRole("tooltip").waitFor({ state: "detached" });
  // Screen readers read this without hover and focus.
  const description = await reveal.getAttribute("aria-description");
  expect(description).toContain("This needs the role editor.");
});

inBrowser("the arrow keys, Home and End move between tabs", async () => {
  const page = await openConnect();
  const open = (name: string) => page.getByRole("tab", { name, exact: true, selected: true });
  await page.getByRole("tab", { name: "curl", exact: true }).focus();
  for (const [key, name] of [
    ["End", "Python"],
    ["ArrowRight", "curl"],
    ["ArrowRight", "TypeScript"],
    ["ArrowLeft", "curl"],
    ["ArrowLeft", "Python"],
    ["Home", "curl"],
  ] as const) {
    await page.keyboard.press(key);
    await open(name).and(page.locator(":focus")).waitFor();
  }
  await page.keyboard.press("Tab");
  await page.getByRole("tabpanel", { name: "curl" }).and(page.locator(":focus")).waitFor();
});

inBrowser(
  "a key opens a menu at its first enabled item, also before its code was loaded",
  async () => {
    const agent = await beckon.createAgent();
    const page = await openDashboard(beckon.url, { as: viewer, path: "/sign-in" });
    const isPressed = Promise.withResolvers<void>();
    await page.route(/assets\/menu-panel-/, async (route) => {
      await isPressed.promise;
      await route.continue();
    });
    // The load event could wait for the file.
    const url = new URL(`/w/${workspaceId}/agents/${agent.id}/connect`, beckon.url).href;
    await page.goto(url, { waitUntil: "commit" });
    await page.getByRole("button", { name: "More about this agent" }).focus();
    await page.keyboard.press("Enter");
    isPressed.resolve();
    // The first item, which duplicates the agent, is disabled for a viewer.
    await page
      .getByRole("menuitem", { name: "Export as YAML" })
      .and(page.locator(":focus"))
      .waitFor();
  },
);
