import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { addRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";

/** Tests that no bar covers the element that has the focus (WCAG 2.2, 2.4.11). */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const workspace = `/w/${owner.workspaceId}`;
const agent = await beckon.createAgent({
  name: "Refund desk",
  instructions: "Answer in one sentence.\n".repeat(12),
  tools: [{ type: "clock" }],
});
for (let run = 0; run < 12; run++)
  await addRun(beckon.db.database, { workspaceId: owner.workspaceId, agentId: agent.id });

const maxTabs = 120;
/** The windows are low, so that few elements are enough to fill them. */
const height = 560;

interface Focused {
  /** What has the focus, in words. */
  readonly words: string;
  /** Whether something else is painted over it. */
  readonly isCovered: boolean;
  readonly isLast: boolean;
}

const focused = (last: Locator) =>
  last.evaluate((element): Focused => {
    const { activeElement, documentElement: root } = element.ownerDocument;
    const target = activeElement ?? root;
    const { top, bottom, left, right } = target.getBoundingClientRect();
    const middle = (Math.max(top, 0) + Math.min(bottom, root.clientHeight)) / 2;
    const hit = element.ownerDocument.elementFromPoint(
      (Math.max(left, 0) + Math.min(right, root.clientWidth)) / 2,
      // Of a text area, the browser scrolls only the line with the cursor into view.
      target.matches("textarea") ? top + 16 : middle,
    );
    const isHit = hit?.contains(target) || (target.closest("label") ?? target).contains(hit);
    const name = target.getAttribute("aria-label") ?? target.closest("label, a")?.textContent;
    return {
      words: `${target.tagName} ${target.id} ${name}`,
      isCovered: hit === null || !isHit,
      isLast: element === target,
    };
  });

/** Presses the key until `last` has the focus. Returns what was covered while it had the focus. */
async function coveredOnTheWay(page: Page, key: string, last: Locator): Promise<string[]> {
  const covered: string[] = [];
  for (let tabs = 0; tabs < maxTabs; tabs++) {
    await page.keyboard.press(key);
    const { words, isCovered, isLast } = await focused(last);
    if (isCovered) covered.push(words);
    if (isLast) return covered;
  }
  throw new Error(`not within ${maxTabs} presses of ${key}: ${last}`);
}

/** Expects that nothing is covered on the way from one element to another, and back. */
async function expectNothingCovered(page: Page, first: Locator, last: Locator): Promise<void> {
  await first.focus();
  expect(await coveredOnTheWay(page, "Tab", last)).toEqual([]);
  expect(await coveredOnTheWay(page, "Shift+Tab", first)).toEqual([]);
}

for (const { width } of [viewports.desktop, viewports.phone]) {
  const at = `at a width of ${width} px`;
  const open = (path: string) =>
    openDashboard(beckon.url, { as: owner, path: workspace + path, viewport: { width, height } });

  inBrowser(`no bar covers the focus in unsaved settings ${at}`, async () => {
    // From a width of 1100 px on, the settings are also beside the conversation.
    const screens = width < 1100 ? ["settings"] : ["settings", "playground"];
    for (const screen of screens) {
      const page = await open(`/agents/${agent.id}/${screen}`);
      const instructions = page.getByRole("textbox", { name: "Instructions", exact: true });
      await instructions.fill("Answer in one word.");
      await page.getByText("Unsaved: Instructions").waitFor();
      const save = page.getByRole("button", { name: "Save", exact: true });
      await expectNothingCovered(page, instructions, save);
    }
  });

  inBrowser(`no bar covers the focus in a conversation ${at}`, async () => {
    const page = await open(`/agents/${agent.id}/playground`);
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    const ended = page.getByRole("article").getByText("Succeeded");
    for (const count of [1, 2]) {
      await message.fill(`Message ${count}\n\n`.repeat(6));
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await expect.poll(() => ended.count()).toBe(count);
    }
    const clear = page.getByRole("button", { name: "Clear", exact: true });
    await expectNothingCovered(page, clear, message);
  });

  inBrowser(`no bar covers the focus in a list ${at}`, async () => {
    const page = await open("/runs");
    const links = page.getByRole("table").getByRole("link");
    await expect.poll(() => links.count()).toBeGreaterThan(11);
    await expectNothingCovered(page, page.getByLabel("Search runs"), links.last());
  });
}

// 1280 × 1024 px at a zoom of 400 % (WCAG 2.2, 1.4.10).
inBrowser("bars leave a window of 320 × 256 px to the content", async () => {
  const viewport = { width: 320, height: 256 };
  const path = `${workspace}/agents/${agent.id}/settings`;
  const page = await openDashboard(beckon.url, { as: owner, path, viewport });
  const topOf = async (target: Locator) => (await target.boundingBox())?.y;
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Returns desk");
  const save = page.getByRole("button", { name: "Save", exact: true });
  await save.waitFor();
  await page.evaluate("scrollTo(0, 0)");
  expect(await topOf(save)).toBeGreaterThan(viewport.height);
  await page.getByRole("link", { name: "Playground" }).click();
  const message = page.getByRole("textbox", { name: "Message", exact: true });
  await message.waitFor();
  await page.evaluate("scrollTo(0, 0)");
  expect(await topOf(message)).toBeGreaterThan(viewport.height);
  const run = page.getByRole("button", { name: "Run", exact: true });
  await expectNothingCovered(page, message, run);
});
