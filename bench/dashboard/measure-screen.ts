import { setTimeout as delay } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";

/** Latency of each request, in milliseconds, as between neighbouring countries. */
export const latencyMs = 60;

/**
 * Notes when the page has its heading and no skeleton. The page does this itself: Playwright would
 * query for them only from time to time.
 */
const observeComplete = `const skeletons = "[data-skeleton], [aria-label='Loading the page']";
  const look = () => {
    if (document.querySelector("h1") !== null && document.querySelector(skeletons) === null)
      globalThis.completeMs = performance.now();
    else requestAnimationFrame(look);
  };
  look();`;

/**
 * Opens a screen over a connection with latency.
 * @returns the milliseconds from the navigation until the screen shows its data
 */
export async function measureScreen(page: Page, cdp: CDPSession, url: string): Promise<number> {
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: latencyMs,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await page.addInitScript(observeComplete);
  await page.goto(url);
  for (;;) {
    const completeMs = await page.evaluate<number>("globalThis.completeMs ?? 0");
    if (completeMs > 0) return completeMs;
    await delay(50);
  }
}
