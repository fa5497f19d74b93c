import type { Page } from "playwright-core";

/**
 * Makes the page read all queries again whose keys begin with one of `queryKeys`, as after a change
 * in another tab.
 */
export async function announceChange(
  page: Page,
  ...queryKeys: readonly (readonly string[])[]
): Promise<void> {
  const news = { type: "changed", queryKeys };
  await page.evaluate(`new BroadcastChannel("beckon").postMessage(${JSON.stringify(news)})`);
}
