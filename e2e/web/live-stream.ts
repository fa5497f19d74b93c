import type { Page } from "playwright-core";

/** The stream of a page, through which its SharedWorker sends it messages. */
interface LiveStream {
  /** Sends the page messages, as its SharedWorker does. */
  readonly send: (messages: readonly object[]) => Promise<void>;
  /** Sends the page live events. */
  readonly sendEvents: (events: readonly object[]) => Promise<void>;
  /**
   * Resets the stream, as after a restore of the database: the page then reads all its data again.
   */
  readonly reset: () => Promise<void>;
}

/** Reloads a page. @returns its stream, to which a test can add messages */
export async function reloadWithStream(page: Page): Promise<LiveStream> {
  await page.addInitScript(`SharedWorker = class extends SharedWorker {
    constructor(...args) {
      super(...args);
      globalThis.livePort = this.port;
    }
  };`);
  await page.reload();
  await page.getByTitle("Live", { exact: true }).waitFor();
  const send = (messages: readonly object[]): Promise<void> =>
    page.evaluate(`for (const data of ${JSON.stringify(messages)})
      livePort.onmessage(new MessageEvent("message", { data }))`);
  const sendEvents = (events: readonly object[]) =>
    send(events.map((event) => ({ type: "event", event })));
  const reset = () =>
    sendEvents([{ type: "stream.reset", data: { message: "The database was restored." } }]);
  return { send, sendEvents, reset };
}
