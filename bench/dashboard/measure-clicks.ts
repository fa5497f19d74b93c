import type { Page } from "playwright-core";

const rounds = 10;

/**
 * Clicks on the first row and the tabs of the page of a run. Returns the number of clicks, and the
 * time within which 95 % of them were painted, in milliseconds (Event Timing API). The browser does
 * not report clicks that were painted within 16 ms.
 */
export async function measureClicks(page: Page): Promise<{ clicks: number; p95Ms: number }> {
  const rows = page.getByRole("treeitem");
  const tabs = page.getByRole("tab");
  await rows.first().waitFor();
  await page.evaluate(`globalThis.clickMs = [];
    new PerformanceObserver((list) => list.getEntries().forEach(({ name, duration }) => {
      if (name === "click") clickMs.push(duration);
    })).observe({ type: "event", durationThreshold: 16 });`);
  let clicks = 0;
  for (let round = 0; round < rounds; round++) {
    // The first tab shows the rows. A click on the first row hides or shows the others.
    for (const target of [rows.first(), ...(await tabs.all()), tabs.first()]) {
      await target.click();
      clicks++;
    }
  }
  // An entry is reported after its frame has been painted.
  await page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))",
  );
  const slowFirst = (await page.evaluate<number[]>("clickMs")).sort((a, b) => b - a);
  return { clicks, p95Ms: slowFirst[Math.floor(clicks * 0.05)] ?? 16 };
}
