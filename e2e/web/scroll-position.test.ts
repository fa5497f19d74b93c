import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { apiOf } from "./api.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const api = apiOf(beckon.url, owner);
const agent = await api("/agents", { name: "Refund desk", model: "demo/echo" });
const url = "http://127.0.0.1:9/v1";
await api("/providers", {
  name: "own",
  kind: "openai",
  base_url: url,
  api_key: "sk-test-0123456789",
});
await api("/agents", { name: "Triage", model: "own/large" });
await api(`/limits/agent/${agent.id}`, { limit_micros: 5_000_000 }, { method: "PUT" });
await beckon.invoke(agent, "Hello");
for (let index = 0; index < 8; index++)
  await api("/keys", { name: `Key ${index}`, scopes: ["runs:read"] });

/** Opens a screen in a window that is too low for it. */
const open = (path: string) =>
  openDashboard(beckon.url, {
    as: owner,
    path: `/w/${owner.workspaceId}${path}`,
    viewport: { width: 1_440, height: 240 },
  });

const scrollOf = (page: Page) => page.evaluate<number>("scrollY");

/** Scrolls an element to the middle of the window, below the top of the page. */
async function scrollTo(page: Page, element: Locator): Promise<number> {
  await element.waitFor();
  await expect
    .poll(() => page.locator("main :is([aria-busy=true], [data-skeleton])").count())
    .toBe(0);
  // The page is high enough only when its other parts are loaded too. These can also move the
  // element, so it must have stayed where it is.
  let before = 0;
  await expect
    .poll(async () => {
      await element.evaluate((found) => found.scrollIntoView({ block: "center" }));
      await renderFrames(page);
      const last = before;
      before = await scrollOf(page);
      return before > 0 && before === last;
    })
    .toBe(true);
  return before;
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("main").getByRole("button", { name });

/** Opens the dialog of an item in a menu. */
const openMenu = (item: string) => async (page: Page, opener: Locator) => {
  await opener.click();
  await page.getByRole("menuitem", { name: item }).click();
};
const press = (_: Page, opener: Locator) => opener.click();

inBrowser.each([
  ["a key", "/keys", (page: Page) => page.getByRole("link", { name: "Key 0" }), press],
  [
    "the edit form of a key",
    "/keys",
    (page: Page) => button(page, "More about Key 0"),
    openMenu("Edit"),
  ],
  [
    "an entry of the audit log",
    "/audit",
    (page: Page) => page.getByRole("link", { name: /^Details/ }).last(),
    press,
  ],
  [
    "the form of a provider",
    "/providers",
    (page: Page) => button(page, "More about own"),
    openMenu("Edit"),
  ],
  [
    "the form of a price",
    "/prices",
    (page: Page) => button(page, /^More about the price of own/),
    openMenu("Set price"),
  ],
  [
    "the form of a ceiling",
    "/plan",
    (page: Page) => button(page, /^More about the ceiling/),
    openMenu("Raise or lower"),
  ],
  ["the form of a plan", "/plan", (page: Page) => button(page, "New plan"), press],
  ["the form of a workspace", "/settings", (page: Page) => button(page, "New workspace"), press],
] as const)(
  "the dialog with %s opens and closes without scrolling the page",
  async (_, path, opener, act) => {
    const page = await open(path);
    const before = await scrollTo(page, opener(page));
    await act(page, opener(page));
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await renderFrames(page);
    expect(await scrollOf(page)).toBe(before);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await renderFrames(page);
    expect(await scrollOf(page)).toBe(before);
    await opener(page).and(page.locator(":focus")).waitFor();
  },
);

inBrowser.each([
  ["usage as a table", "/usage", "Show as table", /as=table/],
  ["usage by model", "/usage", "Model", /group_by=model/],
  ["the code of a stream", `/agents/${agent.id}/connect`, "Stream", /mode=stream/],
] as const)("%s is shown without scrolling the page", async (_, path, name, shown) => {
  const page = await open(path);
  const control = page
    .getByRole("main")
    .getByRole("button", { name })
    .or(page.getByRole("radio", { name }))
    .last();
  const before = await scrollTo(page, control);
  await control.click();
  await page.waitForURL(shown);
  await renderFrames(page);
  expect(await scrollOf(page)).toBe(before);
});

inBrowser("the feed shows the failed runs without scrolling the page", async () => {
  const page = await open("");
  const filter = page.getByRole("combobox", { name: "Show" });
  const before = await scrollTo(page, filter);
  await filter.selectOption("failed");
  await page.waitForURL(/feed=failed/);
  await renderFrames(page);
  expect(await scrollOf(page)).toBe(before);
});

inBrowser("a new filter and another page start at the top", async () => {
  const page = await open("/audit");
  await scrollTo(page, page.getByRole("link", { name: /^Details/ }).last());
  await page
    .getByRole("link", { name: /^Details/ })
    .last()
    .click();
  await page.getByRole("dialog").getByRole("link", { name: "All by this actor" }).click();
  await page.waitForURL(/actor=/);
  await expect.poll(() => scrollOf(page)).toBe(0);
  await scrollTo(page, page.getByRole("link", { name: /^Details/ }).last());
  await page
    .getByRole("navigation")
    .first()
    .getByRole("link", { name: "Keys", exact: true })
    .click();
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  await expect.poll(() => scrollOf(page)).toBe(0);
});

inBrowser("Back from a screen that is still loading returns to the same position", async () => {
  const page = await open("/audit");
  const details = page.getByRole("link", { name: /^Details/ }).last();
  const before = await scrollTo(page, details);
  const code = await holdRequests(page, /keys-screen.*\.js/);
  const keys = page
    .getByRole("navigation")
    .first()
    .getByRole("link", { name: "Keys", exact: true });
  await keys.click();
  await details.waitFor({ state: "detached" });
  await renderFrames(page);
  await page.goBack();
  await details.waitFor();
  await expect.poll(() => scrollOf(page)).toBe(before);
  await code.release();
});
