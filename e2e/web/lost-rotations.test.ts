import type { Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { eventually } from "../../server/test/eventually.ts";
import { setupToken } from "../../server/test/people.ts";
import { startTargetServer } from "../../server/test/target-server.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

/**
 * Tests that the secret in use stays valid if the response of its rotation is lost. The server
 * keeps one previous secret only, so a second rotation would end the secret in use.
 */

const receiver = await startTargetServer();
afterAll(() => receiver.close());
receiver.answer = (_, response) => void response.writeHead(204).end();
const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true });
const unknown = (page: Page) => page.getByRole("status").getByText("It is not known whether");
const open = (path: string) =>
  openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}${path}` });

/** Loses all responses to rotations during `press`, and returns them when the page shows that. */
async function lose(page: Page, press: () => Promise<void>): Promise<string[]> {
  const lost: string[] = [];
  await page.route(/\/(rotate|secret)$/, async (route) => {
    lost.push(await (await route.fetch()).text());
    await route.abort();
  });
  await press();
  await page.getByRole("alert").getByText("Beckon did not respond.").waitFor();
  await page.unroute(/\/(rotate|secret)$/);
  return lost;
}

/** A secret in use, and the dialog that replaces it. */
interface InUse {
  readonly path: string;
  /** Opens the dialog on the page. Without it, the path opens it. */
  readonly show?: (page: Page) => Promise<void>;
  readonly submit: string;
  /** Resolves to true if the secret that was in use at first is accepted. */
  readonly isValid: () => Promise<boolean>;
}

const pressRotate = (page: Page) => button(page, "Rotate").click();
const isAccepted = async (path: string, options: Parameters<typeof beckon.call>[1]) =>
  (await beckon.call(path, options)).status === 200;

async function addTrigger(fields: Record<string, unknown> = {}) {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, fields);
  return { ...trigger, path: `/agents/${agent.id}/triggers/${trigger.id}` };
}

async function addKey(): Promise<InUse> {
  const { body } = await beckon.call("/keys", { body: { name: "K", preset: "observer" } });
  const { id, key } = body.data;
  return {
    path: `/keys?key=${id}&act=rotate`,
    submit: "Rotate key",
    isValid: () => isAccepted("/agents", { credential: key }),
  };
}

async function addSenderSecret(): Promise<InUse> {
  const receiving = { verification: { kind: "header", header: "x-key" } };
  const { path, url } = await addTrigger({ receiving });
  const { body } = await beckon.call(`${path}/secret`, { body: {} });
  const headers = { "x-key": body.data.secret };
  return {
    path,
    show: async (page) => {
      await pressRotate(page);
      await page.getByRole("menuitem", { name: "Replace the secret" }).click();
    },
    submit: "Generate secret",
    isValid: () => isAccepted(url, { credential: null, body: "Hello", headers }),
  };
}

const kinds: Record<string, () => Promise<InUse>> = {
  "a key": addKey,
  "an agent's token": async () => {
    const agent = await beckon.createAgent();
    return {
      path: `/agents/${agent.id}/connect`,
      show: pressRotate,
      submit: "Rotate token",
      isValid: async () => (await beckon.invoke(agent, "Hello")).status === 200,
    };
  },
  "a trigger's URL": async () => {
    const { path, url } = await addTrigger();
    return {
      path,
      show: pressRotate,
      submit: "Rotate URL",
      isValid: () => isAccepted(url, { credential: null, body: "Hello" }),
    };
  },
  "a sender's secret": addSenderSecret,
  "a subscription's secret": async () => {
    const fields = { url: receiver.url, event_types: ["run.finished"] };
    const { body } = await beckon.call("/subscriptions", { body: fields });
    const path = `/subscriptions/${body.data.id}`;
    const webhook = new Webhook(body.data.secret);
    return {
      path: `${path}?act=rotate`,
      submit: "Rotate secret",
      isValid: async () => {
        const { length } = receiver.reached;
        await beckon.call(`${path}/test`, { body: {} });
        const sent = await eventually("the delivery", () => receiver.reached[length]);
        return webhook.verify(sent.body, sent.headers as never) !== undefined;
      },
    };
  },
};

for (const [name, create] of Object.entries(kinds))
  inBrowser(`${name} stays valid although the response of its rotation is lost`, async () => {
    const { path, show, submit, isValid } = await create();
    const page = await open(path);
    const inDays = page.getByLabel("In 7 days");
    const locked = inDays.and(page.locator("[aria-disabled=true]:checked"));

    await show?.(page);
    await inDays.check();
    const lost = await lose(page, async () => {
      await button(page, submit).click();
      await page
        .getByRole("dialog")
        .filter({ has: button(page, /^(Rotating|Generating)…$/) })
        .getByRole("radio", { name: /^In 1 day/, disabled: true })
        .waitFor();
    });
    await unknown(page).waitFor();
    await locked.waitFor();
    await button(page, "Cancel").click();
    // A reload forgets everything that the page holds in memory.
    await page.goto(`${beckon.url}/w/${owner.workspaceId}${path}`);
    await show?.(page);
    await unknown(page).waitFor();
    await locked.waitFor();
    lost.push(...(await lose(page, () => button(page, submit).click())));
    await button(page, submit).click();
    const secret = page.getByRole("dialog").getByText(/(bk[wa]|whsec)_|\/bkt_|^[\w+/=-]{32,}$/);
    const shown = (await secret.first().textContent()) ?? "";
    expect(lost.length).toBeGreaterThan(1);
    for (const response of lost) expect(response).toContain(shown);
    expect(await isValid()).toBe(true);
  });

const weekMs = 7 * 86_400_000;
const hourMs = 3_600_000;

// The dashboard knows the end of this time from its own calls only.
for (const name of ["an agent's token", "a trigger's URL"])
  inBrowser(`the time until ${name} stops counts from the rotation that was lost`, async () => {
    const inUse = await kinds[name]?.();
    const { path, show, submit } = inUse ?? expect.unreachable(name);
    const page = await open(path);
    await show?.(page);
    await page.getByLabel("In 7 days").check();
    const rotatedAt = Date.now();
    await lose(page, () => button(page, submit).click());
    // The repeat is an hour later by the server's clock, which the page reads from responses.
    await page.route(/\/rotate$/, async (route) => {
      const response = await route.fetch();
      const date = new Date(Date.now() + hourMs).toUTCString();
      await route.fulfill({ response, headers: { ...response.headers(), date } });
    });
    await button(page, submit).click();
    await button(page, "Done").click();
    await show?.(page);
    for (const sentence of [/^The previous (token|URL) stops/, /^The secret before the current/]) {
      const until = page.getByText(sentence).locator("time");
      const untilMs = Date.parse((await until.getAttribute("datetime")) ?? "");
      expect(Math.abs(untilMs - rotatedAt - weekMs)).toBeLessThan(hourMs / 2);
    }
  });

// A key cannot be revealed.
for (const [name, create] of Object.entries(kinds).filter(([kind]) => kind !== "a key"))
  inBrowser(`${name} can be rotated again after a lost rotation if it was revealed`, async () => {
    const { path, show, submit } = await create();
    const page = await open(path);
    await show?.(page);
    await lose(page, () => button(page, submit).click());
    await button(page, "Cancel").click();
    const field = page.getByRole("group", {
      name: /^(POST to|Secret|Signing secret|Token of .+)$/,
    });
    await field.getByRole("button", { name: "Reveal" }).click();
    await field.getByRole("button", { name: "Hide" }).click();
    await (show ?? pressRotate)(page);
    await page.getByLabel("In 1 day").check();
    expect(await unknown(page).count()).toBe(0);
  });

inBrowser("a new secret that arrives after its page was left is shown later", async () => {
  const { path, submit, isValid } = await addKey();
  const page = await open("/keys");
  const show = `history.pushState({}, "", ${JSON.stringify(`/w/${owner.workspaceId}${path}`)})`;
  await page.evaluate(show);
  await page.getByLabel("In 7 days").check();
  const held = await holdRequests(page, /\/rotate$/, { isSent: true });
  const response = page.waitForResponse(/\/rotate$/);
  await button(page, submit).click();
  await held.reached;
  await page.evaluate("history.back()");
  const question = page.getByRole("alertdialog", { name: /^Leave before/ });
  await question.getByRole("button", { name: "Leave page" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await held.release();
  const { data } = await (await response).json();
  await renderFrames(page);
  await page.evaluate(show);
  await unknown(page).waitFor();
  await button(page, submit).click();
  await page.getByRole("dialog").getByText(data.key, { exact: true }).waitFor();
  expect(await isValid()).toBe(true);
});

inBrowser(
  "another secret than the one that was saved replaces it only after a notice",
  async () => {
    const { path, show, isValid } = await addSenderSecret();
    const page = await open(path);
    await show?.(page);
    await page.getByLabel("In 7 days").check();
    await page.getByRole("radio", { name: /^From the sender/ }).check();
    const secret = page.getByLabel("Secret of the sender");
    await secret.fill("the-first-secret-of-the-sender");
    await lose(page, () => button(page, "Save secret").click());
    await secret.fill("another-secret-of-the-sender");
    await button(page, "Save secret").click();
    await page.getByText("The secret that you sent before was saved.").waitFor();
    expect(await isValid()).toBe(true);
    await button(page, "Save secret").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await isValid()).toBe(false);
  },
);
