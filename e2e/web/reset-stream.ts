import type { Page } from "playwright-core";

/**
 * Reloads a page.
 * @returns a function that sends the page messages, as its SharedWorker does
 */
export async function withMessages(
  page: Page,
): Promise<(messages: readonly object[]) => Promise<void>> {
  await page.addInitScript(`SharedWorker = class extends SharedWorker {
    constructor(...args) {
      super(...args);
      globalThis.livePort = this.port;
    }
  };`);
  await page.reload();
  await page.getByTitle("Live", { exact: true }).waitFor();
  return (messages) =>
    page.evaluate(`for (const data of ${JSON.stringify(messages)})
      livePort.onmessage(new MessageEvent("message", { data }))`);
}

/** Reloads a page. @returns a function that sends the page live events */
export async function withEvents(
  page: Page,
): Promise<(events: readonly object[]) => Promise<void>> {
  const send = await withMessages(page);
  return (events) => send(events.map((event) => ({ type: "event", event })));
}

/**
 * Reloads a page.
 * @returns a function that resets the page's stream of live events, as after a restore of the
 *   database: the page then reads all its data again
 */
export async function withReset(page: Page): Promise<() => Promise<void>> {
  const send = await withEvents(page);
  return () => send([{ type: "stream.reset", data: { message: "The database was restored." } }]);
}
