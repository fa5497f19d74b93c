// This file is long because its tests share one server, whose subscriptions and deliveries take
// seconds to prepare.
import type { ServerResponse } from "node:http";
import type { Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { eventually } from "../../server/test/eventually.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { startTargetServer, type TargetServer } from "../../server/test/target-server.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { announceChange } from "./announce-change.ts";
import { chooseAgent } from "./choose-agent.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";
import { injectedElements, strongPayloads } from "./hostile-workspace.ts";
import { reloadWithStream } from "./live-stream.ts";

/** Tests the screens of subscriptions and deliveries with real receivers. */

const opened = new AsyncDisposableStack();
afterAll(() => opened.disposeAsync());
// The second attempt is about 5 minutes after the first one, so failed deliveries stay pending. An
// attempt that a test holds must not end before the test releases it.
const beckon = await startTestBeckon({
  BECKON_RETRY_SCHEDULE: "0,300",
  BECKON_DELIVERY_TIMEOUT_SECONDS: "60",
});
const owner = await createOwner(beckon.url, await setupToken(beckon));
const viewer = await addPerson(beckon, { role: "viewer" });
const root = `/w/${owner.workspaceId}`;

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const deliveries = (page: Page) => page.getByRole("table", { name: "Deliveries", exact: true });
const open = (path: string, as: { readonly cookie: string } = owner) =>
  openDashboard(beckon.url, { as, path: root + path });

/** A server that responds with the status that the test sets. */
async function startReceiver(status = 204): Promise<TargetServer & { status: number }> {
  const server = await startTargetServer();
  opened.defer(() => server.close());
  const receiver = Object.assign(server, { status });
  receiver.answer = (_, response) => void response.writeHead(receiver.status).end();
  return receiver;
}

/** Creates an agent and a subscription to `run.finished` of its runs. */
async function subscribe(receiver: TargetServer, more: Record<string, unknown> = {}) {
  const agent = await beckon.createAgent({ name: "Refund desk" });
  const { status, body } = await beckon.call("/subscriptions", {
    body: {
      url: `${receiver.url}/events`,
      event_types: ["run.finished"],
      agent_ids: [agent.id],
      ...more,
    },
  });
  expect(status).toBe(201);
  return { agent, subscription: body.data as { id: string; secret: string } };
}

interface ListedDelivery {
  readonly id: string;
  readonly run_id: string | null;
  readonly status: string;
  readonly last_error: string | null;
}

/** Waits until a delivery of the subscription matches, and returns the newest one that does. */
const delivery = (subscriptionId: string, matches: (each: ListedDelivery) => boolean) =>
  eventually("a delivery", async () => {
    const { body } = await beckon.call(`/subscriptions/${subscriptionId}/deliveries`);
    return (body.data as ListedDelivery[]).find(matches);
  });

inBrowser(
  "the first subscription: its events arrive, are shown live, and are replayed",
  async () => {
    const receiver = await startReceiver();
    const agent = await beckon.createAgent({ name: "Mail triage" });
    const page = await open("/subscriptions");
    await page.getByText("A subscription posts events to your server").waitFor();
    // This name does not exist (RFC 2606), so the command as it is sends nothing to a stranger.
    await page.getByText(/"url": "https:\/\/receiver\.example\//).waitFor();
    await expectAccessible(page);
    await button(page, "New subscription").click();
    await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/events`);
    const held = await holdRequests(page, /\/subscriptions\?/, { method: "GET" });
    await button(page, "Create subscription").click();
    const dialog = page.getByRole("dialog", { name: "The subscription is created" });
    // The secret does not wait for the refetch of the list.
    const secret = (await dialog.getByText(/^whsec_/).textContent()) ?? "";
    await held.release();
    const code = dialog.getByRole("region", { name: "Verify a delivery: TypeScript" });
    // Startup warns of variables that begin with `BECKON_` and are no settings.
    expect(await code.textContent()).not.toContain("BECKON_");
    await expectAccessible(page);
    await button(page, "Done").click();
    await page.waitForURL(/\/subscriptions\/sub_\w+$/);
    await page.getByText("Nothing was delivered yet.").waitFor();
    await expect.poll(() => page.content()).not.toContain(secret);

    await beckon.invoke(agent, "Hello");
    const row = deliveries(page).getByRole("row", { name: /Succeeded run\.finished/ });
    await row.waitFor();
    await page.getByText("Working", { exact: true }).waitFor();
    const [first] = receiver.reached;
    expect(new Webhook(secret).verify(first?.body ?? "", first?.headers as never)).toMatchObject({
      type: "run.finished",
    });

    await row.getByRole("link", { name: "run.finished" }).click();
    await page.waitForURL(/\/deliveries\/dlv_\w+$/);
    await page.getByRole("region", { name: "Request body" }).getByText("Hello").first().waitFor();
    await page
      .getByRole("region", { name: "Response", exact: true })
      .getByText("Status 204")
      .waitFor();
    const note = "Built from the current settings of the subscription.";
    await page.getByText(note).waitFor();
    await button(page, "Show the curl command").click();
    const curl = (await page.locator("pre").textContent()) ?? "";
    expect(curl).toContain(`curl -sS -i '${receiver.url}/events'`);
    expect(curl).toContain("--data-raw");
    expect(curl).not.toContain("webhook-signature");
    await page.keyboard.press("Escape");

    await button(page, "Replay").click();
    const attempts = page.getByRole("table", { name: "Attempts", exact: true });
    await attempts.getByRole("row", { name: /^2 Status 204/ }).waitFor();
    await page.getByText("Attempts since the replay", { exact: true }).waitFor();
    await expect.poll(() => page.getByText("Earlier attempts are not shown.").count()).toBe(0);
    const again = await eventually("the second request", () => receiver.reached[1]);
    expect(again.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    await attempts.getByRole("link", { name: "1", exact: true }).click();
    await page.waitForURL(/\?attempt=1$/);
  },
);

inBrowser("a failing receiver shows why, when it is tried again, and how it recovers", async () => {
  const receiver = await startReceiver(500);
  const { agent, subscription } = await subscribe(receiver);
  const page = await open(`/subscriptions/${subscription.id}`);
  await beckon.invoke(agent, "Hello");
  await page
    .getByText(/Last error: The receiver responded with status 500\. The next attempt is in \d min/)
    .waitFor();
  await page.getByText("Failing", { exact: true }).waitFor();
  await button(page, "Filter").click();
  await page.getByRole("menuitem", { name: "State" }).click();
  await page.getByRole("button", { name: "Succeeded", exact: true }).click();
  await page.getByText("No delivery matches these filters.").waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("status")).toBe("succeeded");
  await page.keyboard.press("Escape");
  await button(page, "Clear filters").click();

  await deliveries(page)
    .getByRole("row", { name: /Retrying run\.finished .*500/ })
    .getByRole("link", { name: "run.finished" })
    .click();
  await page
    .getByText(/The last attempt failed: .*status 500\. The next attempt is in \d min/)
    .waitFor();
  await expect.poll(() => page.title()).toBe("run.finished, delivery retrying · Beckon");
  receiver.status = 200;
  await button(page, "Replay").click();
  await page.getByRole("heading", { name: "run.finished" }).waitFor();
  await page.getByText("Succeeded", { exact: true }).waitFor();
  await page.getByRole("link", { name: /\/events$/ }).click();
  await page.getByText("Working", { exact: true }).waitFor();
});

inBrowser("a failing subscription offers to send at once what waits", async () => {
  const receiver = await startReceiver(500);
  const { agent, subscription } = await subscribe(receiver);
  await beckon.invoke(agent, "Hello");
  await delivery(subscription.id, ({ last_error }) => last_error !== null);
  const page = await open(`/subscriptions/${subscription.id}`);
  await page.getByText(/Correct the receiver, send a test, then replay what waits/).waitFor();
  receiver.status = 204;
  await button(page, "Replay waiting deliveries").click();
  await page.getByText("Failed, not sent, or waiting to be repeated.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click();
  await page.getByText("1 delivery is pending again", { exact: true }).waitFor();
  await deliveries(page)
    .getByRole("row", { name: /Succeeded run\.finished .*204/ })
    .waitFor();
  await page.getByText("Working", { exact: true }).waitFor();
  expect(receiver.reached).toHaveLength(2);
});

inBrowser("an attempt in progress is not announced as a later one", async () => {
  const receiver = await startReceiver();
  const held = Promise.withResolvers<ServerResponse>();
  receiver.answer = (_, response) => held.resolve(response);
  const { agent, subscription } = await subscribe(receiver);
  await beckon.invoke(agent, "Hello");
  const response = await held.promise;
  const { id } = await delivery(subscription.id, ({ status }) => status === "pending");
  const page = await open(`/subscriptions/${subscription.id}/deliveries/${id}`);
  await page.getByText(/The attempt is in progress, or in \d+ (s|min)\.$/).waitFor();
  response.writeHead(204).end();
  await page.getByText("Status 204").first().waitFor();
});

inBrowser("a count links only to a list of exactly what was counted", async () => {
  const { subscription } = await subscribe(await startReceiver());
  const path = `/subscriptions/${subscription.id}`;
  const page = await open("/subscriptions");
  await page.route(`**/api/public${path}`, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    Object.assign(body.data.health, { pending: 21, failed: 34 });
    await route.fulfill({ response, json: body });
  });
  await page.goto(beckon.url + root + path);
  await page.getByRole("link", { name: "21", exact: true }).waitFor();
  // These failed in the last 24 hours, and the list has those of all time.
  await page.getByText("34", { exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "34", exact: true }).count()).toBe(0);
});

inBrowser("what a paused subscription missed is offered when it is resumed", async () => {
  const receiver = await startReceiver();
  const { agent, subscription } = await subscribe(receiver, { description: "Warehouse" });
  const page = await open(`/subscriptions/${subscription.id}`);
  await button(page, "Pause").click();
  await button(page, "Pause subscription").click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await beckon.invoke(agent, "Hello");
  const row = deliveries(page).getByRole("row", { name: /Not sent run\.finished/ });
  await row.waitFor();
  await button(page, "Resume this paused subscription").click();
  const held = await holdRequests(page, /\/resume$/, { method: "POST" });
  await button(page, "Resume subscription").click();
  await button(page, "Resuming…").waitFor();
  // Closing the dialog would not stop the request, but lose the offer.
  await page.keyboard.press("Escape");
  await held.release();
  await page.getByText("1 delivery was missed.").waitFor();
  await page
    .getByText(/This replays everything since .*\d\d:\d\d:\d\d that failed or was not sent\./)
    .waitFor();
  expect(receiver.reached).toEqual([]);
  await button(page, "Replay deliveries").click();
  await page.getByText("1 delivery is pending again", { exact: true }).waitFor();
  await deliveries(page)
    .getByRole("row", { name: /Succeeded run\.finished .*204/ })
    .waitFor();
  expect(receiver.reached).toHaveLength(1);
});

inBrowser(
  "a subscription that is resumed again after a lost response says what it missed",
  async () => {
    const { agent, subscription } = await subscribe(await startReceiver());
    const path = `/subscriptions/${subscription.id}`;
    expect((await beckon.call(`${path}/pause`, { method: "POST" })).status).toBe(200);
    await beckon.invoke(agent, "Hello");
    const page = await open(`${path}?act=resume`);
    const resume = button(page, "Resume subscription");
    await page.route("**/resume", async (route) => {
      await route.fetch();
      await route.fulfill({ status: 504, json: { ok: false, error: "It is lost.", code: "lost" } });
    });
    await resume.click();
    // The page shows the error only after the client has repeated the request a few times.
    await page.getByText("It is lost.").waitFor();
    await page.unroute("**/resume");
    await resume.click();
    await page.getByText("1 delivery was missed.").waitFor();
  },
);

inBrowser("a subscription that was resumed in the meantime offers a replay", async () => {
  const { agent, subscription } = await subscribe(await startReceiver(), { description: "Depot" });
  const path = `/subscriptions/${subscription.id}`;
  expect((await beckon.call(`${path}/pause`, { method: "POST" })).status).toBe(200);
  await beckon.invoke(agent, "Hello");
  const page = await open(`${path}?act=resume`);
  await button(page, "Resume subscription").waitFor();
  expect((await beckon.call(`${path}/resume`, { method: "POST" })).status).toBe(200);
  await button(page, "Resume subscription").click();
  await page.getByRole("dialog", { name: "Depot is enabled already" }).waitFor();
  await button(page, "Replay…").click();
  await page.getByRole("dialog", { name: /^Replay/ }).waitFor();
});

inBrowser("new deliveries wait while one reads further down a long list", async () => {
  const types = ["run.started", "run.finished"];
  const { agent, subscription } = await subscribe(await startReceiver(), { event_types: types });
  await Promise.all(Array.from({ length: 30 }, () => beckon.invoke(agent, "Hello")));
  const page = await open(`/subscriptions/${subscription.id}`);
  await deliveries(page)
    .getByRole("row", { name: /Succeeded/ })
    .first()
    .waitFor();
  await expect.poll(() => deliveries(page).getByRole("row").count()).toBeLessThan(60);
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.mouse.move(500, 600);
  await page.mouse.wheel(0, 1_000);
  await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(500);
  const { body } = await beckon.invoke(agent, "Another one");
  const { id } = await delivery(subscription.id, ({ run_id }) => run_id === body.run_id);
  const link = deliveries(page).locator(`a[href$="${id}"]`);
  await button(page, "New deliveries").waitFor();
  await expect.poll(() => link.count()).toBe(0);
  // When the tab is shown again, the subscription is refetched, and the list is not.
  const reads: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/deliveries?limit=50")) reads.push(request.url());
  });
  const read = page.waitForResponse((response) => response.url().endsWith(subscription.id));
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
  await read;
  expect(reads).toEqual([]);
  await button(page, "New deliveries").click();
  await link.waitFor();
  await expect.poll(() => page.evaluate("scrollY")).toBe(0);
});

inBrowser("a late read does not announce new deliveries that are shown already", async () => {
  const { agent, subscription } = await subscribe(await startReceiver());
  await Promise.all(Array.from({ length: 30 }, () => beckon.invoke(agent, "Hello")));
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `${root}/subscriptions/${subscription.id}`,
    viewport: { width: 1_440, height: 500 },
  });
  await deliveries(page)
    .getByRole("row", { name: /Succeeded/ })
    .first()
    .waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.mouse.move(500, 300);
  await page.mouse.wheel(0, 600);
  await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(500);
  await beckon.invoke(agent, "Another one");
  await button(page, "New deliveries").waitFor();
  const reads = /\/deliveries\?limit=200$/;
  const held = await holdRequests(page, reads, { isSent: true });
  const { body } = await beckon.invoke(agent, "One more");
  const { id } = await delivery(subscription.id, ({ run_id }) => run_id === body.run_id);
  await held.reached;
  await button(page, "New deliveries").click();
  await deliveries(page).locator(`a[href$="${id}"]`).waitFor();
  const late = page.waitForResponse(reads);
  await held.release();
  await late;
  await renderFrames(page);
  expect(await button(page, "New deliveries").count()).toBe(0);
});

inBrowser("new deliveries are announced only if they match the filters", async () => {
  const { agent, subscription } = await subscribe(await startReceiver());
  /** Waits until `number` deliveries have succeeded, and makes them failed ones. */
  const fail = (number: number) =>
    eventually("deliveries that succeeded", async () => {
      const { rowCount } = await beckon.db.database.engine.query(
        `update deliveries set status = 'failed' where subscription_id = $1
          and $2 = (select count(*) from deliveries
            where subscription_id = $1 and status = 'succeeded')`,
        [subscription.id, number],
      );
      return rowCount === 0 ? undefined : true;
    });
  await Promise.all(Array.from({ length: 20 }, () => beckon.invoke(agent, "Hello")));
  await fail(20);
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `${root}/subscriptions/${subscription.id}?status=failed`,
    viewport: { width: 1_440, height: 500 },
  });
  await expect
    .poll(() =>
      deliveries(page)
        .getByRole("row", { name: /Failed/ })
        .count(),
    )
    .toBe(20);
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.mouse.move(500, 300);
  await page.mouse.wheel(0, 600);
  await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(500);
  // The first read can be that of the stream's start. The second one follows an event.
  for (let reads = 0; reads < 2; reads++) {
    const read = page.waitForResponse(/\/deliveries\?status=failed&limit=200$/);
    await beckon.invoke(agent, "It succeeds");
    await read;
  }
  expect(await button(page, "New deliveries").count()).toBe(0);
  await fail(2);
  await beckon.invoke(agent, "Another one");
  await button(page, "New deliveries").waitFor();
});

inBrowser("a delivery with more attempts than are shown says so", async () => {
  const { agent, subscription } = await subscribe(await startReceiver());
  await beckon.invoke(agent, "Hello");
  const { id } = await delivery(subscription.id, ({ status }) => status === "succeeded");
  const { engine } = beckon.db.database;
  await engine.query(
    "update delivery_attempts set number = number + 50 where subscription_id = $1",
    [subscription.id],
  );
  const page = await open(`/subscriptions/${subscription.id}/deliveries/${id}`);
  await page.getByText("Earlier attempts are not shown.").waitFor();
  await expectAccessible(page);
});

inBrowser("after Back, new deliveries wait and the rows stay where they were", async () => {
  const { agent, subscription } = await subscribe(await startReceiver());
  const event_types = ["run.started", "run.finished"];
  await beckon.call(`/subscriptions/${subscription.id}`, {
    method: "PATCH",
    body: { event_types },
  });
  await Promise.all(Array.from({ length: 30 }, () => beckon.invoke(agent, "Hello")));
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `${root}/subscriptions/${subscription.id}`,
    viewport: { width: 1_440, height: 500 },
  });
  const row = (name: RegExp) => deliveries(page).getByRole("row", { name });
  await row(/Succeeded/)
    .first()
    .waitFor();
  await page.getByTitle("Live", { exact: true }).waitFor();
  await expect
    .poll(async () => {
      await page.evaluate("scrollTo(0, 1_200)");
      return page.evaluate("scrollY");
    })
    .toBe(1_200);
  const shownAt = "document.elementFromPoint(500, 300).closest('tr')?.querySelector('a')?.pathname";
  await expect.poll(() => page.evaluate(shownAt)).toMatch(/dlv_/);
  const shown = await page.evaluate<string>(shownAt);
  const link = deliveries(page).locator(`a[href="${shown}"]`);
  const top = async () => Math.round((await link.boundingBox())?.y ?? -1);
  const before = await top();
  await link.click();
  await page.waitForURL(/\/deliveries\/dlv_\w+$/);
  await link.waitFor({ state: "detached" });
  const { body } = await beckon.invoke(agent, "Meanwhile");
  const { id } = await delivery(subscription.id, ({ run_id }) => run_id === body.run_id);
  await page.goBack();
  await button(page, "New deliveries").waitFor();
  expect(await top()).toBe(before);
  await button(page, "New deliveries").click();
  await deliveries(page).locator(`a[href$="${id}"]`).waitFor();
});

inBrowser("a delivery that is shown gets its result while one reads further down", async () => {
  const receiver = await startReceiver();
  const { agent, subscription } = await subscribe(receiver);
  await Promise.all(Array.from({ length: 20 }, () => beckon.invoke(agent, "Hello")));
  await expect.poll(() => receiver.reached.length).toBe(20);
  const released = Promise.withResolvers<void>();
  receiver.answer = (_, response) =>
    void released.promise.then(() => response.writeHead(204).end());
  await beckon.invoke(agent, "Held");
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `${root}/subscriptions/${subscription.id}`,
    viewport: { width: 1_440, height: 500 },
  });
  const rows = (name: RegExp) => deliveries(page).getByRole("row", { name });
  await expect.poll(() => rows(/Pending/).count()).toBe(1);
  await page.mouse.move(500, 300);
  await page.mouse.wheel(0, 600);
  await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(500);
  released.resolve();
  await expect.poll(() => rows(/Succeeded/).count()).toBe(21);
  expect(await page.evaluate("scrollY")).toBeGreaterThan(500);
});

inBrowser("a slow read of the deliveries is not cancelled by the next one", async () => {
  const receiver = await startReceiver();
  const { agent, subscription } = await subscribe(receiver);
  const answered = Promise.withResolvers<void>();
  receiver.answer = (_, response) =>
    void answered.promise.then(() => response.writeHead(204).end());
  await beckon.invoke(agent, "Held");
  const page = await open(`/subscriptions/${subscription.id}`);
  const rows = (name: RegExp) => deliveries(page).getByRole("row", { name });
  await rows(/Pending/).waitFor();
  const cancelled: string[] = [];
  page.on("requestfailed", (request) => {
    if (/\/deliveries\?/.test(request.url())) cancelled.push(request.url());
  });
  const held = await holdRequests(page, /\/deliveries\?/);
  await held.reached;
  // The page reads the subscription every two seconds, as it would read the deliveries.
  for (let reads = 0; reads < 3; reads++) {
    await beckon.invoke(agent, "Meanwhile");
    await page.waitForResponse((response) => response.url().endsWith(subscription.id));
  }
  expect(cancelled).toEqual([]);
  answered.resolve();
  await held.release();
  await expect.poll(() => rows(/Succeeded/).count()).toBe(4);
});

inBrowser("an earlier read of the deliveries does not replace a later one", async () => {
  const { agent, subscription } = await subscribe(await startReceiver());
  await beckon.invoke(agent, "Hello");
  const page = await open(`/subscriptions/${subscription.id}`);
  const rows = deliveries(page).getByRole("row", { name: /Succeeded/ });
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByTitle("Live", { exact: true }).waitFor();
  const earlier = await holdRequests(page, /\/deliveries\?limit=200/, { isSent: true });
  await announceChange(page, [owner.workspaceId]);
  await earlier.reached;
  await beckon.invoke(agent, "Hello");
  await expect.poll(() => rows.count()).toBe(2);
  await earlier.release();
  await renderFrames(page);
  expect(await rows.count()).toBe(2);
});

inBrowser("the overview shows a disabled subscription, with the way back", async () => {
  const receiver = await startReceiver(410);
  const { agent, subscription } = await subscribe(receiver, { description: "Old shop" });
  const page = await open("");
  await beckon.invoke(agent, "Hello");
  await page.getByText("was disabled", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Resume delivery" }).click();
  await page.waitForURL(new RegExp(`${subscription.id}\\?act=resume$`));
  await page
    .getByText(/Beckon disabled it because the receiver responded with status 410/)
    .waitFor();
  receiver.status = 204;
  await button(page, "Resume subscription").click();
  await button(page, "Not now").click();
  await page.getByText("No delivery yet", { exact: true }).waitFor();
  await button(page, "Replay").click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click();
  await page.getByText("Working", { exact: true }).waitFor();
});

inBrowser.each([
  "rows far down a long list show the results of their attempts",
  "rows far down a long list of a busy workspace show the results of their attempts",
])("%s", async (title) => {
  const { agent, subscription } = await subscribe(await startReceiver());
  const page = await open("/subscriptions");
  const { sendEvents } = await reloadWithStream(page);
  const event = { type: "run.finished", agent_id: agent.id, run_id: null, data: {} };
  let loaded = 0;
  await page.route(/\/deliveries\?/, async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [from, limit] = [Number(query.get("after")), Number(query.get("limit"))];
    const end = Math.min(250, from + limit);
    if (limit === 50) loaded = end;
    // Updates read more rows than pages have. Only the oldest deliveries have ended by then.
    const isEnded = limit > 50 && from > 0;
    // The next update follows an event.
    if (limit > 50 && title.includes("busy")) await sendEvents([event]);
    const data = Array.from({ length: end - from }, (_, index) => ({
      id: `dlv_${999 - from - index}`,
      subscription_id: subscription.id,
      kind: "event",
      event_id: "evt_1",
      type: "run.finished",
      agent_id: null,
      run_id: null,
      seq: null,
      url: "https://example.com",
      status: isEnded ? "succeeded" : "pending",
      attempts: 1,
      next_attempt_at: isEnded ? null : "2026-01-01T00:00:00.000Z",
      last_status: isEnded ? 204 : null,
      last_error: null,
      created_at: "2026-01-01T00:00:00.000Z",
      finished_at: null,
    }));
    await route.fulfill({ json: { ok: true, data, next: end === 250 ? null : String(end) } });
  });
  await page.goto(`${beckon.url}${root}/subscriptions/${subscription.id}`);
  await deliveries(page)
    .getByRole("row", { name: /Pending/ })
    .first()
    .waitFor();
  await page.mouse.move(500, 600);
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 3_000);
      return loaded;
    })
    .toBe(250);
  await page.mouse.wheel(0, 3_000);
  await deliveries(page)
    .getByRole("row", { name: /Succeeded/ })
    .last()
    .waitFor();
});

inBrowser("an end of a time range that is typed in part is not taken for no end", async () => {
  const { subscription } = await subscribe(await startReceiver());
  const page = await open(`/subscriptions/${subscription.id}`);
  await button(page, "Replay").click();
  await page.getByLabel("A range").click();
  await page.getByLabel("To", { exact: true }).pressSequentially("23112026");
  await button(page, "Replay").click();
  await page.getByText("Complete the end, or clear it.").waitFor();
});

inBrowser("a test is sent, and its delivery shown as it arrives", async () => {
  const receiver = await startReceiver();
  const { subscription } = await subscribe(receiver, {
    event_types: ["run.failed", "run.started"],
  });
  const page = await open(`/subscriptions/${subscription.id}`);
  await button(page, "Send test").click();
  const dialog = page.getByRole("dialog", { name: "Send a test" });
  await dialog.getByLabel("Event").selectOption("run.started");
  await dialog.getByRole("button", { name: "Send test" }).click();
  await dialog.getByText("Succeeded", { exact: true }).waitFor();
  await dialog.getByText(/responded with status 204 in/).waitFor();
  await expectAccessible(page);
  expect(JSON.parse(receiver.reached[0]?.body ?? "")).toMatchObject({
    type: "run.started",
    data: { test: true },
  });
  await dialog.getByRole("link", { name: "Open the delivery" }).click();
  await page.getByText("Test", { exact: true }).waitFor();
});

inBrowser("each field of a wrong form says what to enter", async () => {
  const page = await open("/subscriptions?new=1");
  const dialog = page.getByRole("dialog");
  const create = () => dialog.getByRole("button", { name: "Create subscription" }).click();
  await create();
  await dialog.getByText("Enter the URL of your server").waitFor();
  const url = dialog.getByLabel("URL", { exact: true });
  await url.fill("ftp://example.com");
  await dialog.getByText("Enter an http or https URL").waitFor();
  await url.fill("https://example.com/beckon");
  await dialog.getByLabel("Description").fill("x".repeat(501));
  await dialog.getByText("Use at most 500 characters.").waitFor();
  for (const type of ["run.finished", "run.failed"])
    await dialog.getByRole("checkbox", { name: type }).click();
  await dialog.getByLabel("Only some agents").click();
  await dialog.getByLabel("Only those of some triggers").click();
  await dialog.getByLabel("Only runs with one of these tags").fill("x".repeat(65));
  await button(page, "Payload, secret and headers").click();
  await dialog.getByLabel("Signing secret").fill("whsec_short");
  for (const [index, [name, value]] of [
    ["content-type", "text/plain"],
    ["x-one", ""],
  ].entries()) {
    await button(page, "Add header").click();
    await dialog.getByLabel(`Name of header ${index + 1}`).fill(name ?? "");
    await dialog.getByLabel(`Value of header ${index + 1}`).fill(value ?? "");
  }
  await create();
  for (const message of [
    "Choose at least one event.",
    "Choose at least one agent.",
    "Choose at least one trigger.",
    "Enter at most 10 tags",
    "Must be whsec_ and 24 to 64 bytes in base64.",
    "Is set by Beckon or by HTTP",
    "Enter the value, or remove the header.",
  ])
    await dialog.getByText(message).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await button(page, "Discard changes").click();
  await dialog.waitFor({ state: "detached" });
});

inBrowser("a private address is rejected with the setting that allows it", async () => {
  const page = await open("/subscriptions?new=1");
  await page.getByLabel("URL", { exact: true }).fill("http://10.1.2.3/events");
  await button(page, "Create subscription").click();
  await page.getByText("BECKON_EGRESS_ALLOW=10.1.2.3:80", { exact: true }).waitFor();
});

inBrowser("triggers that cannot be read can be retried", async () => {
  const agent = await beckon.createAgent({ name: "Order desk" });
  await beckon.createTrigger(agent.id, { name: "Orders" });
  const page = await open("/subscriptions?new=1");
  const url = new RegExp(`/agents/${agent.id}/triggers`);
  const failed = { ok: false, error: "It failed.", code: "internal" };
  await page.route(url, (route) => route.fulfill({ status: 500, json: failed }));
  await page.getByLabel("Only those of some triggers").click();
  await chooseAgent(page, "Triggers of the agent", "Order desk");
  await page.getByText("Triggers could not be loaded.").waitFor();
  await page.unroute(url);
  await button(page, "Retry").click();
  await page.getByRole("checkbox", { name: "Orders" }).waitFor();
});

inBrowser("all conditions and settings are sent, and shown afterwards", async () => {
  const receiver = await startReceiver();
  const agent = await beckon.createAgent({ name: "Payment desk" });
  const trigger = await beckon.createTrigger(agent.id, { name: "Payments" });
  const page = await open("/subscriptions?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("URL", { exact: true }).fill(`${receiver.url}/all`);
  await dialog.getByLabel("Description").fill("Ledger");
  await dialog.getByRole("checkbox", { name: "run.tool_call" }).click();
  await dialog.getByLabel("Only some agents").click();
  await dialog.getByRole("checkbox", { name: "Payment desk" }).click();
  await dialog.getByLabel("Only those of some triggers").click();
  await chooseAgent(page, "Triggers of the agent", "Payment desk");
  await dialog.getByRole("checkbox", { name: "Payments" }).click();
  await dialog.getByLabel("Only runs with one of these tags").fill("paid\neurope");
  await button(page, "Payload, secret and headers").click();
  await dialog.getByRole("radio", { name: /^Thin/ }).click();
  await dialog.getByRole("radio", { name: /^CloudEvents/ }).click();
  await button(page, "Add header").click();
  await dialog.getByLabel("Name of header 1").fill("Authorization");
  await dialog.getByLabel("Value of header 1").fill("Bearer hidden-0123456789");
  await button(page, "Create subscription").click();
  await button(page, "Done").click();
  await page.waitForURL(/\/subscriptions\/sub_\w+$/);
  const id = new URL(page.url()).pathname.split("/").at(-1);
  expect((await beckon.call(`/subscriptions/${id}`)).body.data).toMatchObject({
    description: "Ledger",
    event_types: ["run.tool_call", "run.finished", "run.failed"],
    agent_ids: [agent.id],
    trigger_ids: [trigger.id],
    tags: ["paid", "europe"],
    payload: "thin",
    format: "cloudevents",
    header_names: ["Authorization"],
  });
  const settings = page.getByRole("region", { name: "Settings", exact: true });
  await settings.getByText("Authorization").waitFor();
  await settings.getByRole("link", { name: "Payment desk" }).waitFor();
  await expect.poll(() => page.content()).not.toContain("hidden-0123456789");
});

inBrowser("another server needs the secret and the headers again", async () => {
  const [before, after] = [await startReceiver(), await startReceiver()];
  const { agent, subscription } = await subscribe(before, { headers: { "X-Gate": "one" } });
  const page = await open(`/subscriptions/${subscription.id}?act=edit`);
  const dialog = page.getByRole("dialog", { name: "Edit the subscription" });
  await dialog.getByLabel("URL", { exact: true }).fill(`${after.url}/events`);
  await dialog.getByRole("button", { name: "Save subscription" }).click();
  await dialog.getByText("Enter the secret for the new server, or generate one.").waitFor();
  await dialog.getByText("Enter the value, or remove the header.").waitFor();
  await dialog.getByRole("button", { name: "Generate" }).click();
  const field = dialog.getByLabel("Signing secret");
  await expect.poll(() => field.inputValue()).toMatch(/^whsec_/);
  const secret = await field.inputValue();
  await dialog.getByLabel("Value of header 1").fill("two");
  await dialog.getByRole("button", { name: "Save subscription" }).click();
  await page.getByText("Saved the subscription", { exact: true }).waitFor();
  await dialog.waitFor({ state: "detached" });
  await beckon.invoke(agent, "Hello");
  const { body, headers } = await eventually("the delivery", () => after.reached[0]);
  expect(headers["x-gate"]).toBe("two");
  new Webhook(secret).verify(body, headers as never);
  expect(before.reached).toEqual([]);
});

inBrowser("two people who edit the same field choose, and lose nothing", async () => {
  const { subscription } = await subscribe(await startReceiver(), { description: "First" });
  const page = await open(`/subscriptions/${subscription.id}?act=edit`);
  const dialog = page.getByRole("dialog", { name: "Edit the subscription" });
  await dialog.getByLabel("Description").fill("Mine");
  const theirs = { description: "Theirs", event_types: ["run.failed"] };
  const path = `/subscriptions/${subscription.id}`;
  expect((await beckon.call(path, { method: "PATCH", body: theirs })).status).toBe(200);
  await dialog.getByRole("button", { name: "Save subscription" }).click();
  const merge = page.getByRole("dialog", { name: "Someone else saved this subscription" });
  await merge.getByRole("radio", { name: "Yours" }).click();
  await merge.getByRole("button", { name: "Save merged" }).click();
  await page.getByRole("heading", { name: "Mine", exact: true }).waitFor();
  expect((await beckon.call(path)).body.data).toMatchObject({
    description: "Mine",
    event_types: ["run.failed"],
  });
});

inBrowser("a secret is revealed for a moment and rotated with an overlap", async () => {
  const { subscription } = await subscribe(await startReceiver());
  const page = await open(`/subscriptions/${subscription.id}`);
  await button(page, "Reveal").click();
  await page.getByText(subscription.secret).waitFor();
  await page.evaluate("dispatchEvent(new Event('blur'))");
  await page.getByText(subscription.secret).waitFor({ state: "detached" });
  await button(page, "Rotate").click();
  await page.getByRole("radio", { name: /^In 1 hour/ }).click();
  await button(page, "Rotate secret").click();
  const dialog = page.getByRole("dialog", { name: /^New secret of/ });
  const secret = await dialog.getByText(/^whsec_/).textContent();
  expect(secret).not.toBe(subscription.secret);
  await button(page, "Done").click();
  await page.getByText(/^The previous secret signs as well\. It stops in/).waitFor();
});

inBrowser("a subscription is deleted after a question", async () => {
  const { subscription } = await subscribe(await startReceiver(), { description: "Deleted soon" });
  const page = await open(`/subscriptions/${subscription.id}`);
  await button(page, "More about this subscription").click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByText("Nothing more is sent to its receiver.").waitFor();
  await button(page, "Delete subscription").click();
  await page.waitForURL(/\/subscriptions$/);
  await page.getByText("Deleted Deleted soon", { exact: true }).waitFor();
  await page.getByRole("row").filter({ hasText: "Deleted soon" }).waitFor({ state: "detached" });
  await page.goto(`${beckon.url}${root}/subscriptions/${subscription.id}`);
  await page.getByText("There is no subscription with this id.").waitFor();
});

inBrowser("the page of a run shows what was delivered about it", async () => {
  const receiver = await startReceiver();
  const { agent } = await subscribe(receiver, { event_types: ["run.started", "run.finished"] });
  const { body } = await beckon.invoke(agent, "Hello");
  const page = await open(`/runs/${body.run_id}`);
  await page.getByRole("tab", { name: "Deliveries" }).click();
  const rows = deliveries(page);
  await rows
    .getByRole("row", { name: /run\.started/ })
    .filter({ hasText: receiver.host })
    .waitFor();
  await rows
    .getByRole("row", { name: /Succeeded run\.finished/ })
    .filter({ hasText: receiver.host })
    .getByRole("link")
    .click();
  await page.waitForURL(/\/deliveries\/dlv_/);
});

inBrowser("a viewer sees subscriptions and deliveries, and changes nothing", async () => {
  const receiver = await startReceiver();
  const { agent, subscription } = await subscribe(receiver, { description: "Seen" });
  await beckon.invoke(agent, "Hello");
  const { id } = await delivery(subscription.id, ({ status }) => status === "succeeded");
  const list = await open("/subscriptions", viewer);
  await expect
    .poll(() => button(list, "New subscription").getAttribute("aria-disabled"))
    .toBe("true");
  await list.getByRole("link", { name: "Seen" }).click();
  for (const name of ["Pause", "Send test", "Edit", "Rotate", "Reveal", "Replay"])
    await expect
      .poll(async () => [name, await button(list, name).getAttribute("aria-disabled")])
      .toEqual([name, "true"]);
  await button(list, "Pause").hover();
  await list.getByRole("tooltip", { name: /role editor/ }).waitFor();
  const page = await open(`/subscriptions/${subscription.id}/deliveries/${id}`, viewer);
  await expect.poll(() => button(page, "Replay").getAttribute("aria-disabled")).toBe("true");
  await page.goto(`${beckon.url}${root}/subscriptions/${subscription.id}?act=delete`);
  await deliveries(page)
    .getByRole("row", { name: /Succeeded/ })
    .waitFor();
  await expect.poll(() => page.getByRole("alertdialog").count()).toBe(0);
});

inBrowser("what a receiver responds is text, and fits a narrow phone", async () => {
  const receiver = await startReceiver();
  const [payload = ""] = strongPayloads;
  const wide = `${payload} ${"wide".repeat(100)}`;
  receiver.answer = (_, response) => {
    response.setHeader("content-type", "text/html");
    response.setHeader("x-hostile", wide);
    response.writeHead(500).end(`<html><body>${wide}</body></html>`);
  };
  const { agent, subscription } = await subscribe(receiver, { description: wide.slice(0, 500) });
  await beckon.invoke(agent, wide);
  const { id } = await delivery(subscription.id, ({ last_error }) => last_error !== null);
  for (const theme of ["light", "dark"] as const) {
    const page = await openDashboard(beckon.url, {
      as: owner,
      path: `${root}/subscriptions/${subscription.id}/deliveries/${id}`,
      viewport: viewports.narrow,
      theme,
    });
    const response = page.getByRole("region", { name: "Response", exact: true });
    await response.getByText(/^<html>/).waitFor();
    for (const path of [undefined, "", `/${subscription.id}`]) {
      if (path !== undefined) await page.goto(`${beckon.url}${root}/subscriptions${path}`);
      await page
        .getByText(/<img src=x/)
        .first()
        .waitFor();
      await expect.poll(() => page.evaluate(injectedElements)).toEqual([]);
      await expect
        .poll(() => page.evaluate("document.documentElement.scrollWidth"))
        .toBe(viewports.narrow.width);
    }
    await page.getByText("Settings and signature").click();
    await expectAccessible(page);
  }
});
