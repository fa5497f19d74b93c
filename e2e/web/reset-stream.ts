import type { Page } from "playwright-core";

/**
 * Reloads a page.
 * @returns a function that resets the page's stream of live events, as after a restore of the
 *   database: the page then reads all its data again
 */
export async function withReset(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(`SharedWorker = class extends SharedWorker {
    constructor(...args) {
      super(...args);
      globalThis.livePort = this.port;
    }
  };`);
  await page.reload();
  await page.getByTitle("Live", { exact: true }).waitFor();
  const event = { type: "stream.reset", data: { message: "The database was restored." } };
  const message = JSON.stringify({ type: "event", event });
  return () =>
    page.evaluate(`livePort.onmessage(new MessageEvent("message", { data: ${message} }))`);
}
