import { expect, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { browserPath, openBrowserPage } from "../server/test/browser.ts";
import { eventually } from "../server/test/eventually.ts";
import { addPerson, type Person } from "../server/test/people.ts";
import { fencesOf } from "./examples.ts";
import { accessibilityFindings, rulesOfColours } from "./web/axe.ts";

/** Tests the documentation and its code samples in Chromium; skipped without Chromium. */
const beckon = await startTestBeckon({}, { streamLimits: { checkMs: 50 } });
const inBrowser = test.skipIf(browserPath === undefined);
const phone = { viewport: { width: 375, height: 740 } };

/** Opens a page of Beckon with the person's session, and adds the code of docs/streams.md to it. */
async function openWithExamples(person: Person) {
  const page = await openBrowserPage(beckon.url);
  const [name = "", value = ""] = person.cookie.split("=");
  await page
    .context()
    .addCookies([{ name, value, url: beckon.url, httpOnly: true, sameSite: "Strict" }]);
  // A page without Content-Security-Policy, so that the test can add scripts.
  await page.goto(`${beckon.url}/healthz`);
  const code = fencesOf("docs/streams.md")
    .filter(({ kind }) => kind === "js")
    .map(({ text }) => text.replaceAll("export ", ""));
  await page.addScriptTag({ content: code.join("\n") });
  return page;
}

inBrowser(
  "the documented code for EventSource and fetch reads a run in a page, and a workspace until sign-out",
  async () => {
    const agent = await beckon.createAgent();
    const { run_id } = (await beckon.invoke(agent, "Hello")).body;
    const journal = (await beckon.call(`/runs/${run_id}/events`)).body.data;
    const person = await addPerson(beckon, { role: "viewer" });
    const page = await openWithExamples(person);
    const fetched = `(async () => { const all = []; for await (const event of watch("", {}, "${run_id}")) all.push(event); return all; })()`;
    expect(await page.evaluate(fetched)).toEqual(journal);
    const heard = (path: string, types: readonly string[], until: string) =>
      `new Promise((done) => { const all = []; listen(${JSON.stringify(path)}, ${JSON.stringify(types)}, (event) => {
      all.push(event); globalThis.heard = all.length; if (event.type === "${until}") done(all); }); })`;
    const types = journal.map(({ type }: { type: string }) => type);
    expect(await page.evaluate(heard(`/runs/${run_id}/events`, types, "run.finished"))).toEqual(
      journal,
    );

    // A new stream starts at a position before the oldest open transaction of the PostgreSQL
    // server, which can belong to a test in another database. The test waits until this position is
    // after the run's events, so that the stream does not contain them.
    await eventually("an order of events that is past the run", async () => {
      const { data } = (await beckon.call("/events?kind=run.finished")).body;
      return data.some((event: { run_id: string }) => event.run_id === run_id) || undefined;
    });
    await page.evaluate("globalThis.heard = 0");
    const all = page.evaluate(heard("/events", ["stream.opened", "run.finished"], "stream.closed"));
    await eventually(
      "the stream",
      async () => (await page.evaluate("globalThis.heard")) === 1 || undefined,
    );
    await beckon.invoke(agent, "Hello");
    await eventually(
      "the run's end",
      async () => (await page.evaluate("globalThis.heard")) === 2 || undefined,
    );
    await person.call("/sign-out", { method: "POST" });
    expect(((await all) as { type: string }[]).map(({ type }) => type)).toEqual([
      "stream.opened",
      "run.finished",
      "stream.closed",
    ]);
  },
);

inBrowser("the documentation is searched by the words of an operation or its path", async () => {
  const page = await openBrowserPage(beckon.url, phone);
  await page.goto(`${beckon.url}/docs`);
  await page.keyboard.press("/");
  await page.keyboard.type("agents token post");
  await page.getByText("1 result", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${beckon.url}/docs/agents#rotateAgentToken`);
});

inBrowser("a language of the samples is kept from page to page", async () => {
  const page = await openBrowserPage(beckon.url);
  await page.goto(`${beckon.url}/docs/runs`);
  await page.getByText("Python", { exact: true }).first().click();
  await page.goto(`${beckon.url}/docs/keys`);
  await expect
    .poll(() => page.locator("#createKey pre:visible").first().textContent())
    .toContain("urlopen");
});

inBrowser("the documentation is accessible in both themes", async () => {
  const page = await openBrowserPage(beckon.url);
  for (const path of ["/docs", "/docs/errors", "/docs/streams"]) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(beckon.url + path);
    const light = await accessibilityFindings(page);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await accessibilityFindings(page, { rules: rulesOfColours });
    expect({ path, light, dark }).toEqual({ path, light: [], dark: [] });
  }
});

inBrowser("the documentation fits a phone, and needs no script", async () => {
  const page = await openBrowserPage(beckon.url, { ...phone, javaScriptEnabled: false });
  for (const path of ["/docs", "/docs/calls", "/docs/agents", "/docs/errors", "/docs/streams"]) {
    await page.goto(beckon.url + path);
    const { width } = (await page.locator("html").boundingBox()) ?? { width: 0 };
    expect([path, width]).toEqual([path, phone.viewport.width]);
  }
  await page.getByText("Menu", { exact: true }).click();
  await page.getByRole("link", { name: "Triggers", exact: true }).click();
  await page.waitForURL(`${beckon.url}/docs/triggers`);
  await page.getByText("TypeScript", { exact: true }).first().click();
  await expect
    .poll(() => page.locator("#createTrigger pre:visible").first().textContent())
    .toContain("fetch(");
});
