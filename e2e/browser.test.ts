import { createHash } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { browserPath, closeBrowser, openBrowserPage } from "../server/test/browser.ts";
import { eventually } from "../server/test/eventually.ts";
import { addPerson, type Person, password, setupToken } from "../server/test/people.ts";
import { fencesOf } from "./examples.ts";

/** Tests Beckon's pages in Chromium; skipped without it. */
const beckon = await startTestBeckon({}, { streamLimits: { checkMs: 50 } });
afterAll(closeBrowser);
const inBrowser = test.skipIf(browserPath === undefined);
const phone = { viewport: { width: 375, height: 740 } };

inBrowser(
  "an invitation link adds a new member, once, and its token is removed from the address bar",
  async () => {
    const { body } = await beckon.call("/invitations", {
      body: { email: "grace@example.com", role: "editor" },
    });
    const page = await openBrowserPage(beckon.url, phone);
    await page.goto(body.data.url);
    expect(page.url()).toBe(`${beckon.url}/invite`);
    await page.getByLabel("Your name").fill("Grace");
    await page.getByLabel("Password").fill("short");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("alert").filter({ hasText: "password" }).waitFor();
    await page.getByLabel("Password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByText("You are a member now.").waitFor();
    const { body: members } = await beckon.call("/members");
    expect(members.data).toEqual([
      expect.objectContaining({ name: "Grace", email: "grace@example.com", role: "editor" }),
    ]);

    const again = await openBrowserPage(beckon.url);
    await again.goto(body.data.url);
    await again.getByLabel("Password").fill(password);
    await again.getByRole("button", { name: "Join" }).click();
    await again.getByRole("alert").filter({ hasText: "no longer valid" }).waitFor();
  },
);

inBrowser("the first owner comes in by the link of the start, and can sign in", async () => {
  const page = await openBrowserPage(beckon.url);
  await page.goto(`${beckon.url}/setup#token=${await setupToken(beckon)}`);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Become the owner" }).click();
  await page.getByText("You own the workspace").waitFor();
  const { status } = await beckon.call("/sign-in", {
    credential: null,
    body: { email: "ada@example.com", password },
  });
  expect(status).toBe(200);
});

inBrowser("a reset link sets a new password", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const { body } = await beckon.call(`/members/${person.id}/reset-link`, { method: "POST" });
  const page = await openBrowserPage(beckon.url);
  await page.goto(body.data.url);
  await page.getByLabel("New password").fill("another correct horse");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByText("Your password was changed.").waitFor();
  const signIn = (given: string) =>
    beckon.call("/sign-in", { credential: null, body: { email: person.email, password: given } });
  expect([(await signIn(password)).status, (await signIn("another correct horse")).status]).toEqual(
    [401, 200],
  );
});

inBrowser("a link without its token says so and sends nothing", async () => {
  const page = await openBrowserPage(beckon.url);
  await page.goto(`${beckon.url}/setup`);
  await page.getByRole("alert").filter({ hasText: "incomplete" }).waitFor();
  expect(await page.getByRole("button").isDisabled()).toBe(true);
});

test("the Content-Security-Policy of pages allows only their own style and script", async () => {
  for (const path of ["/setup", "/invite", "/reset"]) {
    const { status, headers, body } = await beckon.call(beckon.url + path, { credential: null });
    const policy = headers.get("content-security-policy") ?? "";
    const hashes = [...body.matchAll(/<(?:style|script)[^>]*>([\s\S]*?)<\/(?:style|script)>/g)].map(
      ([, text]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
    );
    expect([status, headers.get("cache-control"), headers.get("referrer-policy")]).toEqual([
      200,
      "no-store",
      "no-referrer",
    ]);
    expect(hashes).toHaveLength(2);
    for (const hash of hashes) expect(policy).toContain(hash);
    expect(policy).toContain("default-src 'none'");
  }
});

/** Opens a page of this origin with a session and loads the code for pages of docs/streams.md. */
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

    // A stream starts before the oldest open transaction of the PostgreSQL server, so that tests in
    // other databases can delay it.
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
  expect(await page.locator("#createKey pre:visible").first().textContent()).toContain("urlopen");
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
  expect(await page.locator("#createTrigger pre:visible").first().textContent()).toContain(
    "fetch(",
  );
});
