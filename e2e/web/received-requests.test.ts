// This file is long because all its tests share one server and the functions that send requests.
import { presetName } from "@beckon/contract";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson } from "../../server/test/people.ts";
import { signedAsGithub } from "../../server/test/receiving-trigger.ts";
import { expectAccessible } from "./accessibility.ts";
import { announceChange } from "./announce-change.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

/** Tests triggers that receive the webhooks of a service, from the preset to the replay. */

const beckon = await startTestBeckon();
const editor = await addPerson(beckon, { role: "editor" });
const viewer = await addPerson(beckon, { role: "viewer" });
const { body: me } = await editor.call("/me");
const workspaceId: string = me.data.workspaces[0].id;

const hostile = '"><img src=x onerror="document.title=1">{{ 7 | times: 7 }}';
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const requests = (page: Page) => page.getByRole("table", { name: "Received requests" });
const row = (page: Page, name: RegExp) => requests(page).getByRole("row", { name });
const senderOf = (page: Page) => page.getByRole("combobox", { name: "Sender", exact: true });
const pathOf = (agentId: string, rest = "") =>
  `/w/${workspaceId}/agents/${agentId}/triggers${rest}`;

let deliveries = 0;

/** Sends an event as GitHub sends it. */
async function send(
  url: string,
  secret: string,
  {
    type = "issues",
    payload = { action: "opened" } as object,
    id = `delivery-${++deliveries}`,
  } = {},
) {
  const text = JSON.stringify(payload);
  const { status } = await beckon.call(url, {
    credential: null,
    body: text,
    headers: {
      "content-type": "application/json",
      "x-github-event": type,
      "x-github-delivery": id,
      ...signedAsGithub(text, secret),
    },
  });
  return status;
}

/** Creates an agent with a trigger for GitHub over the API, and opens a page of the trigger. */
async function openGithub({
  change = {},
  as = editor,
  rest = "",
  name = "GitHub",
  viewport = undefined as { width: number; height: number } | undefined,
  theme = "light" as "light" | "dark",
} = {}) {
  const agent = await beckon.createAgent({ name: "Triage" });
  const { body: presets } = await editor.call("/trigger-presets");
  const preset = presets.data.find((each: { name: string }) => each.name === "github");
  const { body: created } = await editor.call(`/agents/${agent.id}/triggers`, {
    body: { name, prompt_prefix: "An event:", receiving: { ...preset.receiving, ...change } },
  });
  const trigger = created.data;
  const base = `/agents/${agent.id}/triggers/${trigger.id}`;
  const { body: secrets } = await editor.call(`${base}/secret`, { body: {} });
  const secret: string = secrets.data.secret;
  const open = (path = rest) =>
    openDashboard(beckon.url, {
      as,
      path: pathOf(agent.id, `/${trigger.id}${path}`),
      theme,
      ...(viewport === undefined ? {} : { viewport }),
    });
  return { agent, trigger, base, secret, open, page: await open() };
}

const shownIn = async (page: Page, label: string) =>
  page
    .getByRole("dialog")
    .locator("div", { has: page.getByRole("button", { name: `Copy ${label}`, exact: true }) })
    .last()
    .locator("span.font-mono")
    .textContent();

inBrowser("from a preset to the replay of the first request", async () => {
  const agent = await beckon.createAgent({ name: "Triage" });
  const page = await openDashboard(beckon.url, { as: editor, path: pathOf(agent.id) });
  await page.getByRole("link", { name: "New trigger" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("GitHub", { exact: true }).click();
  await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("GitHub");
  await expectAccessible(page);
  await button(page, "Create").click();

  await page.getByRole("dialog", { name: "Connect GitHub" }).waitFor();
  await dialog.getByText(/Settings.*Webhooks/).waitFor();
  await dialog.getByText("This address reaches only this machine or network.").waitFor();
  await dialog.getByText("Waiting for the first request").waitFor();
  await expectAccessible(page);
  const url = (await shownIn(page, "URL")) ?? "";
  const secret = (await shownIn(page, "Secret")) ?? "";
  expect(url).toContain("/api/public/triggers/bkt_");
  expect(await send(url, "another secret")).toBe(401);
  await dialog.getByText("Not verified").waitFor();
  expect(await send(url, secret, { type: "ping", payload: { zen: "Keep it simple." } })).toBe(202);
  await dialog.getByText("ping", { exact: true }).waitFor();
  await dialog.getByText("Filtered out", { exact: true }).waitFor();
  await button(page, "Done").click();

  await page.waitForURL(/\/triggers\/trg_\w+$/);
  await row(page, /ping.*Filtered out/).waitFor();
  await row(page, /Not verified/).waitFor();
  await expect.poll(() => page.content()).not.toContain(secret);
  await page.getByText("Live", { exact: true }).last().waitFor();
  expect(await send(url, secret, { type: "push", payload: { ref: "refs/heads/main" } })).toBe(200);
  await row(page, /push.*Started/)
    .getByRole("link")
    .click();

  await page.waitForURL(/\/requests\/req_\w+$/);
  const input = page.getByRole("region", { name: "Input of the model" });
  await input.getByText("x-github-event: push").waitFor();
  await input.getByText("refs/heads/main").waitFor();
  await button(page, "With the present settings").click();
  await input.getByText("Headers and query").waitFor();
  await page.getByText("x-github-delivery").waitFor();
  await expect.poll(() => page.content()).not.toContain("sha256=");
  await expectAccessible(page);

  await button(page, "Replay").click();
  await page.getByRole("menuitem", { name: "With the current version" }).click();
  await page.waitForURL(/\/runs\/run_\w+$/);
  await page.getByText("Succeeded").first().waitFor();
  await page.goto(new URL(pathOf(agent.id), beckon.url).href);
  await row(page, /push replay.*Started/).waitFor();

  await row(page, /ping.*Filtered out/)
    .getByRole("link")
    .click();
  await button(page, "Delete").click();
  await button(page, "Delete request").click();
  await row(page, /Not verified/).waitFor();
  await expect.poll(() => row(page, /ping.*Filtered out/).count()).toBe(0);
});

inBrowser("a sender that makes its own secret is connected with it", async () => {
  const agent = await beckon.createAgent();
  const page = await openDashboard(beckon.url, {
    as: editor,
    path: pathOf(agent.id, "?new=blank"),
  });
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Stripe", { exact: true }).click();
  await button(page, "Create").click();
  await page.getByRole("dialog", { name: "Connect Stripe" }).waitFor();
  await button(page, "Save secret").click();
  await dialog.getByText("Fill this in.").waitFor();
  await page.getByLabel("Secret of the sender").fill("whsec_0123456789abcdef");
  await page.keyboard.press("Escape");
  await page.getByRole("alertdialog", { name: "Close without saving?" }).waitFor();
  await button(page, "Cancel").click();
  await button(page, "Save secret").click();
  await dialog.getByText("The secret is saved.").waitFor();
  await button(page, "Done").click();
  await page.getByRole("heading", { name: "Connect Stripe" }).waitFor();
  await page.getByText("Waiting for the first request").waitFor();
  await page.getByRole("group", { name: "Secret" }).getByRole("button", { name: "Reveal" }).click();
  await page.getByText("whsec_0123456789abcdef").waitFor();
});

inBrowser("settings are previewed, mistakes are shown at their line, and saved", async () => {
  const { page, trigger, base, secret } = await openGithub();
  const payload = { action: "opened", issue: { title: "It is broken" } };
  expect(await send(trigger.url, secret, { payload })).toBe(200);
  await page.getByRole("link", { name: "Edit and preview" }).click();
  await page.waitForURL(/\/settings$/);
  const input = page.getByRole("region", { name: "Input of the model" });
  await input.getByText("x-github-event: issues").waitFor();
  const template = page.getByLabel("Message template");
  await template.fill("{{ event.type }}\n{{ payload.issue.title | nothing }}");
  await page.getByText(/Line 2: /).waitFor();
  await page.getByText("Mistake", { exact: true }).waitFor();
  await expectAccessible(page);
  await template.fill("{{ event.type }}\n{{ payload.issue.title | upcase }}");
  await input.getByText("IT IS BROKEN").waitFor();
  await expect.poll(() => input.locator("[data-part=prefix]").textContent()).toBe("An event:");
  // The group is open, because the preset has a filter.
  const filter = page.getByLabel("Only requests for which this is true");
  await filter.fill("payload.action ==");
  await page.getByText(/Line 1: /).waitFor();
  await filter.fill('payload.action == "closed"');
  await page.getByText("Filtered out", { exact: true }).waitFor();
  await page.getByText("Bodies and limits", { exact: true }).click();
  await page.getByLabel("Largest body").fill("0");
  await page.getByText(/Use 1,024 or more/).waitFor();
  await page.getByLabel("Largest body").fill("512");
  await page.getByLabel("Rate limit").pressSequentially("1e");
  await page.getByText("Use a number.").waitFor();
  await page.getByLabel("Rate limit").clear();
  await page.getByText("Unsaved: Message template, Filter, Bodies and limits").waitFor();
  await button(page, "Save").click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const { body: saved } = await editor.call(base);
  expect(saved.data.receiving).toMatchObject({
    preset: "github",
    filter: 'payload.action == "closed"',
    template: "{{ event.type }}\n{{ payload.issue.title | upcase }}",
    bodies: { max_bytes: 524_288 },
  });
  expect(await send(trigger.url, secret, { payload })).toBe(202);
  await page.getByRole("link", { name: "GitHub" }).click();
  await row(page, /issues.*Filtered out/).waitFor();
});

inBrowser("every preset can be chosen, shown and saved", async () => {
  const { page, base } = await openGithub({ rest: "/settings" });
  const sample = page.getByLabel("Made of");
  await sample.selectOption({ index: 1 });
  for (const name of presetName.options) {
    await senderOf(page).selectOption(name);
    if (name !== "github") {
      // The example that was chosen before belongs to GitHub, so the first example of the new
      // sender is chosen instead.
      const first = sample.locator("optgroup option:first-child:checked");
      await expect.poll(() => first.count()).toBe(1);
      await button(page, "Save").click();
      await button(page, "Save").and(page.locator(":disabled")).waitFor();
    }
    await expect.poll(async () => (await editor.call(base)).body.data.receiving.preset).toBe(name);
  }
  await senderOf(page).selectOption({ label: "Anything: text, JSON or a form" });
  await button(page, "Save").click();
  await expect.poll(async () => (await editor.call(base)).body.data.receiving).toBeNull();
});

inBrowser(
  "settings that no longer verify a sender with a secret are saved with a warning",
  async () => {
    const { page } = await openGithub({ rest: "/settings" });
    const warning = page.getByText("Requests are no longer verified");
    await senderOf(page).selectOption({ label: "Anything: text, JSON or a form" });
    await button(page, "Save").click();
    await warning.waitFor();
    await expectAccessible(page);
    await senderOf(page).selectOption("github");
    await warning.waitFor({ state: "detached" });
    await button(page, "Save").click();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(await warning.count()).toBe(0);
  },
);

inBrowser("the request of a preview stays chosen when newer ones have arrived", async () => {
  const { page, trigger, secret } = await openGithub();
  expect(await send(trigger.url, secret, { payload: { action: "chosen" } })).toBe(200);
  await row(page, /issues.*Started/).waitFor();
  await page.getByRole("link", { name: "Edit and preview" }).click();
  const choice = page.getByLabel("Made of");
  await expect.poll(() => choice.inputValue()).toMatch(/^request:/);
  const chosen = await choice.inputValue();
  await choice.selectOption("own");
  await choice.selectOption(chosen);
  // The preview offers the newest 20 requests. It also keeps the chosen one, which is older, so
  // there are 21.
  for (let count = 0; count < 20; count++) await send(trigger.url, secret);
  const read = page.waitForResponse(/\/requests\?/);
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
  await read;
  await expect.poll(() => choice.locator("option[value^='request:']").count()).toBe(21);
  expect(await choice.inputValue()).toBe(chosen);
});

inBrowser(
  "the signed text of an HMAC signature keeps its line break while it is edited",
  async () => {
    const timestamp = { header: "x-time" };
    const verification = {
      kind: "hmac",
      header: "x-signature",
      algorithm: "sha256",
      encoding: "hex",
      signed: ["timestamp", { literal: "\n" }, "body"],
      timestamp,
    };
    const { page, base } = await openGithub({ rest: "/settings", change: { verification } });
    await page.getByText("Verification", { exact: true }).click();
    const signed = page.getByLabel("Signed text");
    await signed.press("Control+End");
    await signed.press("!");
    await button(page, "Save").click();
    const saved = async () => (await editor.call(base)).body.data.receiving.verification.signed;
    await expect.poll(saved).toEqual(["timestamp", { literal: "\n" }, "body", { literal: "!" }]);
  },
);

inBrowser("what is changed while the settings are being saved is kept", async () => {
  const { page, base } = await openGithub({ rest: "/settings" });
  const held = await holdRequests(page, `**${base}`, { method: "PATCH" });
  const sender = senderOf(page);
  await sender.selectOption("gitlab");
  await button(page, "Save").click();
  await held.reached;
  await sender.selectOption("linear");
  await held.release();
  await expect
    .poll(async () => (await editor.call(base)).body.data.receiving.preset)
    .toBe("gitlab");
  await button(page, "Save").and(page.locator(":enabled:not([aria-busy])")).waitFor();
  await expect.poll(() => sender.inputValue()).toBe("linear");
});

inBrowser(
  "two people who change the settings lose nothing, and a warning is at its field",
  async () => {
    const { page, trigger, base, secret } = await openGithub({ change: { filter: "true" } });
    expect(await send(trigger.url, secret)).toBe(200);
    await page.getByRole("link", { name: "Edit and preview" }).click();
    const template = page.getByLabel("Message template");
    await template.fill("Mine");
    const { preset, verification } = trigger.receiving;
    const theirs = { preset, verification, filter: "true", template: "Theirs", max_per_minute: 60 };
    await editor.call(base, { method: "PATCH", body: { receiving: theirs } });
    await button(page, "Save").click();
    const merge = page.getByRole("dialog", { name: "Someone else saved this trigger" });
    await merge.getByRole("group", { name: "Message template" }).getByLabel("Yours").check();
    await expectAccessible(page);
    await button(page, "Save merged").click();
    await page.getByText("Saved", { exact: true }).waitFor();
    const receiving = async () => (await editor.call(base)).body.data.receiving;
    await expect.poll(receiving).toMatchObject({ template: "Mine", max_per_minute: 60 });

    await page.getByLabel("Made of").selectOption("own");
    await page.getByLabel("Payload", { exact: true }).fill('{"ok": true}');
    const filter = page.getByLabel("Only requests for which this is true");
    await filter.fill("payload.ok");
    await button(page, "Save").click();
    const warning = page.getByRole("status").getByText("fails for the last received request");
    await warning.waitFor();
    // The warning is also the description of the field, so that a screen reader reads it there.
    const noteId = (await filter.getAttribute("aria-describedby"))?.split(" ").at(-1) ?? "";
    await page.locator(`[id="${noteId}"]`, { hasText: "last received request" }).waitFor();
    await expectAccessible(page);
    await filter.fill("true");
    await warning.waitFor({ state: "detached" });
    // The payload is kept, and stays chosen, while another screen is open.
    await button(page, "Discard").click();
    await page.getByRole("link", { name: "Versions" }).click();
    await page.waitForURL(/\/versions$/);
    await page.goBack();
    await expect
      .poll(() => page.getByLabel("Payload", { exact: true }).inputValue())
      .toBe('{"ok": true}');
  },
);

inBrowser("each outcome is explained, and hostile text is text", async () => {
  const { page, trigger, secret, open } = await openGithub({
    name: hostile,
    change: { template: "{{ payload.text }}", filter: "payload.ok" },
  });
  await page.getByRole("heading", { name: hostile }).waitFor();
  const payload = { ok: true, text: hostile };
  expect(await send(trigger.url, secret, { type: hostile, payload, id: hostile })).toBe(200);
  expect(await send(trigger.url, secret, { type: "again", payload, id: hostile })).toBe(200);
  expect(await send(trigger.url, "wrong", { payload })).toBe(401);
  expect(await send(trigger.url, secret, { payload: { text: "no ok" } })).toBe(200);
  for (const [name, text] of [
    [/onerror.*Started/, hostile],
    [/again.*Repeated/, "An earlier request had the same event id or Idempotency-Key"],
    [/Not verified/, "Its headers and body were not stored."],
    [/Not verified/, "The signature in x-hub-signature-256 is not valid."],
    [/issues.*Mapping failed/, "The filter or the message template failed"],
  ] as const) {
    await row(page, name).getByRole("link").click();
    await page.waitForURL(/\/requests\/req_\w+$/);
    // Waits until the request is loaded. Before that, the page already shows the trigger's name,
    // which is the same text as the first `text`.
    await page.getByRole("region", { name: "Body", exact: true }).waitFor();
    await page.getByText(text).first().waitFor();
    await expectAccessible(page);
    await page.goBack();
  }
  await expect.poll(() => page.title()).not.toBe("1");
  await button(page, "Filter").click();
  await page.getByRole("menuitem", { name: "Outcome" }).click();
  await page
    .getByRole("button", { name: "Repeated" })
    .or(page.getByRole("option", { name: "Repeated" }))
    .first()
    .click();
  await row(page, /again.*Repeated/).waitFor();
  await row(page, /Not verified/).waitFor({ state: "detached" });
  await expect.poll(() => page.url()).toContain("outcome=repeated");
  const none = await open("?event_type=unknown");
  await none.getByText("No request matches these filters.").waitFor();
  await button(none, "Clear filters").click();
  await row(none, /again.*Repeated/).waitFor();
  const filtered = await open("?event_type=unknown&outcome=repeated");
  await button(filtered, "Remove filter Outcome").waitFor();
  // Both presses are made in one task, so that the page cannot render between them.
  await filtered.evaluate(`
    document.querySelector('[aria-label="Remove filter Event"]').click();
    document.querySelector('[aria-label="Remove filter Outcome"]').click();
  `);
  await expect.poll(() => new URL(filtered.url()).search).toBe("");
});

inBrowser("the next request is captured as a sample, and many are replayed", async () => {
  const { page, trigger, secret } = await openGithub();
  await page.getByText("Waiting for the first request").waitFor();
  await button(page, "More about received requests").click();
  await page.getByRole("menuitem", { name: "Listen for a sample" }).click();
  // Screen readers read the text of the status when it changes, so it has no seconds that count.
  const status = page.getByRole("status").filter({ hasText: "Listening for a sample" });
  await status.getByText(/until \d\d:\d\d:\d\d\. The next/).waitFor();
  expect(await status.textContent()).not.toContain("left");
  await page
    .locator("[aria-hidden=true]")
    .getByText(/^\d+ s left$/)
    .waitFor();
  expect(await send(trigger.url, secret)).toBe(202);
  await row(page, /issues.*Sample/).waitFor();
  await page.getByText(/Listening for a sample/).waitFor({ state: "detached" });
  await button(page, "More about received requests").click();
  await page.getByRole("menuitem", { name: "Replay many" }).click();
  // Verified requests with these outcomes can also be replayed, because their bodies are stored.
  for (const outcome of ["rejected", "swallowed", "honeypot", "captured"])
    await page.getByLabel("Which requests?").selectOption(outcome);
  await expectAccessible(page);
  await button(page, "Replay").click();
  await page.getByText("Replayed 1 request").first().waitFor();
  await row(page, /issues replay.*Started/).waitFor();
});

inBrowser("listening ends when a request is captured that the list does not show", async () => {
  const { page, trigger, base, secret } = await openGithub();
  await editor.call(`${base}/listen`, { body: {} });
  // Makes the browser's clock an hour fast. The page must count the seconds left by the server's
  // clock. By the browser's clock, Beckon would no longer be listening.
  await page.addInitScript("const now = Date.now; Date.now = () => now() + 3_600_000;");
  await page.goto(`${page.url()}?outcome=mapping_error`);
  await page.getByText(/^\d+ s left$/).waitFor();
  expect(await send(trigger.url, secret)).toBe(202);
  await page.getByText(/Listening for a sample/).waitFor({ state: "detached" });
});

inBrowser("Meta is connected with the app's secret, and gets the verify token", async () => {
  const agent = await beckon.createAgent();
  await beckon.createTrigger(agent.id, { receiving: { preset: "meta" } });
  const page = await openDashboard(beckon.url, { as: editor, path: pathOf(agent.id) });
  await page.getByText("The verify token appears with the secret.").waitFor();
  expect(await page.getByText("Verify token", { exact: true }).count()).toBe(0);
  await page.goto(new URL(pathOf(agent.id, "?new=github"), beckon.url).href);
  const prefix = page.getByLabel("Prompt prefix");
  expect(await prefix.inputValue()).toContain("our repository");
  await page.getByRole("dialog").getByText("Meta", { exact: false }).first().click();
  await expect.poll(() => prefix.inputValue()).toBe("");
  await button(page, "Create").click();
  await page.getByLabel("Secret of the sender").fill("0123456789abcdef");
  await button(page, "Save secret").click();
  await button(page, "Copy Verify token").waitFor();
});

inBrowser("a trigger that verifies nothing gets a verify token with its secret", async () => {
  const agent = await beckon.createAgent();
  const { id } = await beckon.createTrigger(agent.id, { receiving: { handshake: "meta" } });
  const page = await openDashboard(beckon.url, { as: editor, path: pathOf(agent.id, `/${id}`) });
  await page.getByText("Beckon does not answer Meta's handshake.").waitFor();
  const token = page.getByRole("group", { name: "Verify token" });
  expect(await token.count()).toBe(0);
  await button(page, "Set the secret").click();
  await button(page, "Generate secret").click();
  await button(page, "Done").click();
  await token.getByRole("button", { name: "Reveal" }).click();
  const { body } = await editor.call(`/agents/${agent.id}/triggers/${id}/secret`);
  await token.getByText(body.data.verify_token, { exact: true }).waitFor();
});

inBrowser("a request that is stored after a newer one is shown, and ends listening", async () => {
  const { page: live, trigger, base, secret } = await openGithub({ rest: "?event_type=none" });
  await editor.call(`${base}/listen`, { body: {} });
  const { body: listening } = await editor.call(base);
  expect(await send(trigger.url, secret, { type: "early" })).toBe(202);
  expect(await send(trigger.url, "wrong")).toBe(401);
  // Until `isStored` is true, the page gets responses without the early request.
  let isStored = false;
  await live.route(/\/requests\?/, async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = await response.json();
    const shown = data.filter(({ event_type }: { event_type: string }) => event_type !== "early");
    await route.fulfill({ response, json: { ...rest, data: isStored ? data : shown } });
  });
  await live.route(`**/api/public${base}`, (route) =>
    isStored ? route.continue() : route.fulfill({ json: listening }),
  );
  await live.goto(live.url().replace(/\?.*/, ""));
  await row(live, /Not verified/).waitFor();
  await live.getByText(/Listening for a sample/).waitFor();
  isStored = true;
  await row(live, /early.*Sample/).waitFor();
  await live.getByText(/Listening for a sample/).waitFor({ state: "detached" });
});

inBrowser(
  "a cancelled replay of many requests sends no more, and says why some started no run",
  async () => {
    const { page } = await openGithub({ rest: "?act=replay" });
    let calls = 0;
    const held = await holdRequests(page, "**/requests/replay", {
      handle: (route) => {
        calls += 1;
        const next_until = new Date(Date.now() - 60_000).toISOString();
        const data = { replayed: 3, skipped: 2, more: calls < 9, next_until };
        return route.fulfill({ json: { ok: true, data } });
      },
    });
    await page.getByRole("radio", { name: /Original version/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click();
    await held.reached;
    await button(page, "Cancel").click();
    await held.release();
    await page.getByText("Replayed 3 requests").first().waitFor();
    await page.getByText("replay them with the current version").first().waitFor();
    expect(calls).toBe(1);
  },
);

inBrowser("a replay of many requests that is sent again after a failure is the same", async () => {
  const { page } = await openGithub({ rest: "?act=replay" });
  const sent: unknown[] = [];
  await page.route("**/requests/replay", (route) => {
    const request = route.request();
    sent.push([request.headers()["idempotency-key"], request.postDataJSON()]);
    const next_until = new Date(Date.now() - 60_000).toISOString();
    const error = { ok: false, code: "agent_paused", error: "The agent is paused." };
    const data = { replayed: 1, skipped: 0, more: true, next_until };
    return sent.length % 2 === 1
      ? route.fulfill({ json: { ok: true, data } })
      : route.fulfill({ status: 409, json: error });
  });
  const replay = page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true });
  const advice = page.getByRole("alert").getByText("Press Replay again without changes: what was");
  for (const requests of [2, 4]) {
    await replay.click();
    await expect.poll(() => sent.length).toBe(requests);
    await replay.waitFor();
    await advice.waitFor();
  }
  expect(sent[2]).toEqual(sent[0]);
  expect(sent[0]).toEqual([
    expect.any(String),
    expect.objectContaining({ since: expect.any(String), until: expect.any(String) }),
  ]);
});

inBrowser("a replay that failed in part says so without the Idempotency-Key", async () => {
  const { page } = await openGithub({ rest: "?act=replay" });
  const error =
    "The agent is paused. Runs of 2 requests were started before this error: a repeat with the same Idempotency-Key does not start them again.";
  await page.route("**/requests/replay", (route) =>
    route.fulfill({ status: 409, json: { ok: false, code: "agent_paused", error } }),
  );
  await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click();
  const words =
    "The agent is paused. Runs of 2 requests were started before this error. Press Replay again without changes: what was replayed is not started twice.";
  await page.getByRole("alert").getByText(words, { exact: true }).waitFor();
});

inBrowser("a replay ends at the server's time, also if the browser's clock is slow", async () => {
  const { page } = await openGithub();
  await page.addInitScript("const now = Date.now; Date.now = () => now() - 3_600_000;");
  await page.goto(`${page.url()}?act=replay`);
  const sent = page.waitForRequest("**/requests/replay");
  await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click();
  const { until } = (await sent).postDataJSON();
  expect(Math.abs(Date.parse(until) - Date.now())).toBeLessThan(60_000);
});

inBrowser("an end that was not entered is the present again once a field is changed", async () => {
  const { page } = await openGithub({ rest: "?act=replay" });
  const ends: string[] = [];
  await page.route("**/requests/replay", (route) => {
    ends.push(route.request().postDataJSON().until);
    const error = { ok: false, code: "agent_paused", error: "The agent is paused." };
    return route.fulfill({ status: 409, json: error });
  });
  const replay = page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true });
  for (const [index, outcome] of ["mapping_error", "mapping_error", "started"].entries()) {
    await page.getByLabel("Which requests?").selectOption(outcome);
    await replay.click();
    await expect.poll(() => ends.length).toBe(index + 1);
    await replay.waitFor();
    await page.getByRole("alert").getByText("The agent is paused.").waitFor();
    expect(await page.getByText("Press Replay again").count()).toBe(0);
  }
  expect(ends[1]).toBe(ends[0]);
  expect(Date.parse(ends[2] ?? "")).toBeGreaterThan(Date.parse(ends[0] ?? ""));
});

inBrowser("a replaced secret is no longer said to be accepted", async () => {
  const { page } = await openGithub();
  const replace = async (grace: string) => {
    await button(page, "Rotate").click();
    await page.getByRole("menuitem", { name: "Replace the secret" }).click();
    await page.getByLabel(grace, { exact: true }).check();
    const held = await holdRequests(page, /\/secret$/, { method: "POST", times: 1 });
    await button(page, "Generate secret").click();
    await button(page, "Generating…").waitFor();
    // Closing the dialog would not stop the request, but hide the new secret.
    await page.keyboard.press("Escape");
    await held.release();
    await button(page, "Done").click();
  };
  const note = page.getByText("The previous secret is also accepted.");
  await replace("In 7 days");
  await page
    .getByRole("group", { name: "Secret", exact: true })
    .getByRole("button", { name: "Reveal" })
    .click();
  await note.waitFor();
  await replace("Now");
  await note.waitFor({ state: "detached" });
});

inBrowser(
  "a rotated URL of a sender's trigger says until when the old one is accepted",
  async () => {
    const { page, base } = await openGithub();
    await editor.call(`${base}/secret`, { body: { grace_seconds: 604_800 } });
    await page
      .getByRole("group", { name: "Secret", exact: true })
      .getByRole("button", { name: "Reveal" })
      .click();
    const oldSecret = page.getByText("The previous secret is also accepted.");
    await oldSecret.waitFor();
    const rotate = async () => {
      await button(page, "Rotate").click();
      await page.getByRole("menuitem", { name: "Rotate the URL" }).click();
    };
    await rotate();
    await button(page, "Rotate URL").click();
    await button(page, "Done").click();
    await page.getByText("The previous URL stops").waitFor();
    expect(await oldSecret.count()).toBe(1);
    await rotate();
    await page.getByText("This rotation ends it at once.").waitFor();
  },
);

inBrowser("a held run waits for its agent, and says so until it is released", async () => {
  const { page, trigger, agent, secret } = await openGithub({ change: { when_paused: "hold" } });
  await editor.call(`/agents/${agent.id}/pause`, { body: {} });
  expect(await send(trigger.url, secret)).toBe(200);
  await row(page, /issues.*Held/)
    .getByRole("link")
    .click();
  const outcome = page.getByText("Its run was held, because the agent was paused");
  await outcome.waitFor();
  await page.getByRole("link", { name: /^run_/ }).click();
  await page.waitForURL(/\/runs\/run_\w+$/);
  await page.getByText("This run is held.").waitFor();
  await expectAccessible(page);
  await editor.call(`/agents/${agent.id}/resume`, { body: {} });
  await page.getByText("This run is held.").waitFor({ state: "detached" });
  await page.getByText("Succeeded").first().waitFor();
  await page.goBack();
  // The outcome stays, so it does not say that the run is still held.
  await outcome.waitFor();
});

inBrowser("a slow read of the list is not cancelled when further requests arrive", async () => {
  const { page, trigger, secret } = await openGithub();
  expect(await send(trigger.url, secret)).toBe(200);
  await row(page, /issues/).waitFor();
  // When the stream opens, all reads begin anew.
  await page.getByTitle("Live", { exact: true }).waitFor();
  const cancelled: string[] = [];
  page.on("requestfailed", (request) => {
    if (/\/requests\?limit=50/.test(request.url())) cancelled.push(request.url());
  });
  const held = await holdRequests(page, /\/requests\?limit=50/);
  for (let sent = 2; sent <= 4; sent++) {
    expect(await send(trigger.url, secret, { type: "push" })).toBe(200);
    await page.waitForResponse(
      async (response) =>
        response.url().endsWith("/requests?limit=20") &&
        (await response.json()).data.length === sent,
    );
    await held.reached;
  }
  expect(cancelled).toEqual([]);
  await held.release();
  await expect.poll(() => row(page, /push/).count()).toBe(3);
});

inBrowser("a read of the list is not cancelled by an earlier read", async () => {
  const { page, trigger, secret } = await openGithub();
  expect(await send(trigger.url, secret)).toBe(200);
  await row(page, /issues/).waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  const earlier = await holdRequests(page, /\/requests\?limit=200/, { isSent: true });
  await announceChange(page, [workspaceId, "requests"]);
  await earlier.reached;
  const later = await holdRequests(page, /\/requests\?limit=50/);
  expect(await send(trigger.url, secret, { type: "push" })).toBe(200);
  await later.reached;
  await earlier.release();
  await renderFrames(page);
  await later.release();
  await row(page, /push/).waitFor();
});

inBrowser(
  "after Back, new requests wait, and rows stay where they were or are removed",
  async () => {
    const { page, trigger, secret, base } = await openGithub({
      viewport: { width: 1_440, height: 400 },
    });
    for (let n = 0; n < 60; n++) expect(await send(trigger.url, secret)).toBeLessThan(300);
    const { body } = await editor.call(`${base}/requests`);
    const linkOf = (index: number) => requests(page).locator(`a[href$="${body.data[index].id}"]`);
    await linkOf(0).waitFor();
    await expect
      .poll(async () => {
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight * 0.6)");
        return linkOf(30).count();
      })
      .toBe(1);
    await linkOf(30).evaluate((link) => link.scrollIntoView({ block: "center" }));
    const top = async () => Math.round((await linkOf(30).boundingBox())?.y ?? -1);
    const before = await top();
    await linkOf(30).click();
    await page.waitForURL(/\/requests\/\w+$/);
    await linkOf(30).waitFor({ state: "detached" });
    await editor.call(`${base}/requests/${body.data[31].id}`, { method: "DELETE" });
    expect(await send(trigger.url, secret, { type: "push" })).toBe(200);
    await page.goBack();
    await button(page, "New requests").waitFor();
    await linkOf(31).waitFor({ state: "detached" });
    expect(await top()).toBe(before);
    await button(page, "New requests").click();
    await row(page, /push/).waitFor();
  },
);

inBrowser("a list that cannot be read says since when it is not live", async () => {
  const { page, trigger, secret } = await openGithub();
  expect(await send(trigger.url, secret)).toBe(200);
  await row(page, /issues.*Started/).waitFor();
  await page.route(/\/requests\?/, (route) => route.abort());
  await page.getByText(/^Not live, as of \d\d:\d\d:\d\d$/).waitFor({ timeout: 60_000 });
  await row(page, /issues.*Started/).waitFor();
  // The list is also read every two seconds. These reads are held until Retry is pressed, because
  // one that succeeds would remove the button.
  const held = await holdRequests(page, /\/requests\?/);
  await button(page, "Retry").first().click();
  await held.release();
  await page.getByText(/^Not live/).waitFor({ state: "detached" });
});

inBrowser("a viewer reads everything on a phone, and changes nothing", async () => {
  const { page, trigger, secret, open } = await openGithub({
    as: viewer,
    viewport: viewports.narrow,
    theme: "dark",
  });
  expect(await send(trigger.url, secret)).toBe(200);
  await row(page, /issues.*Started/).waitFor();
  for (const name of ["Reveal", "Rotate"])
    await expect.poll(() => button(page, name).first().getAttribute("aria-disabled")).toBe("true");
  await expectAccessible(page);
  await row(page, /issues.*Started/)
    .getByRole("link")
    .click();
  await expect.poll(() => button(page, "Replay").getAttribute("aria-disabled")).toBe("true");
  await expectAccessible(page);
  const settings = await open("/settings");
  await expect.poll(() => senderOf(settings).isDisabled()).toBe(true);
  await settings.getByText("An event:").first().waitFor();
  await expectAccessible(settings);
  await expect
    .poll(() =>
      settings
        .locator("html")
        .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    )
    .toBe(0);
});
