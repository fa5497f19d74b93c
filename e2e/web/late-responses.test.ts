import type { Page } from "playwright-core";
import { expect } from "vitest";
import { addRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { signedAsGithub } from "../../server/test/receiving-trigger.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

/** Tests actions whose response arrives after the person has opened another page. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const workspace = `/w/${owner.workspaceId}`;
const { database } = beckon.db;

const open = (path: string) => openDashboard(beckon.url, { as: owner, path: workspace + path });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Opens a page as a link does, without a reload. */
const go = (page: Page, path: string) =>
  page.evaluate(`history.pushState({}, "", ${JSON.stringify(workspace + path)})`);

/** Presses `opener`, then an item of its menu. */
async function choose(page: Page, opener: string, item: string): Promise<void> {
  await button(page, opener).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Presses `Delete` in the menu of a page, and confirms. */
async function remove(page: Page, opener: string, confirm: string): Promise<void> {
  await choose(page, opener, "Delete");
  await button(page, confirm).click();
}

interface Action {
  readonly path: string;
  readonly act: (page: Page) => Promise<void>;
  /** The request whose response is late. */
  readonly request: readonly [method: string, url: RegExp];
  /** The toast after the response. */
  readonly done: string;
  /** True if the dialog is left open, which is closed when another page opens. Default: false. */
  readonly isLeftOpen?: boolean;
}

/**
 * Does each action and, before its response, opens the form of a new key and types. Expects that
 * the form is still there after the response.
 */
async function expectFormKept(page: Page, actions: readonly Action[]): Promise<void> {
  for (const { path, act, request, done, isLeftOpen } of actions) {
    const [method, url] = request;
    const held = await holdRequests(page, url, { method, isSent: true });
    await go(page, path);
    await act(page);
    await held.reached;
    if (!isLeftOpen) await page.keyboard.press("Escape");
    await go(page, "/keys?new=1");
    const name = page.getByRole("dialog", { name: "New key" }).getByLabel("Name", { exact: true });
    await name.fill("Being typed");
    await held.release();
    await page.getByText(done, { exact: true }).first().waitFor();
    await renderFrames(page);
    const { pathname, search } = new URL(page.url());
    expect(pathname + search).toBe(`${workspace}/keys?new=1`);
    expect(await page.getByRole("alertdialog").count()).toBe(0);
    expect(await name.inputValue()).toBe("Being typed");
  }
}

inBrowser("a delete that ends on another page keeps what is typed there", async () => {
  const { id: agentId } = await beckon.createAgent({ name: "Doomed agent" });
  const { id: keptId } = await beckon.createAgent();
  const { id: triggerId } = await beckon.createTrigger(keptId, { name: "Doomed trigger" });
  const runId = await addRun(database, { workspaceId: owner.workspaceId, agentId: keptId });
  const { body } = await beckon.call("/subscriptions", {
    body: {
      url: "http://127.0.0.1:9/events",
      event_types: ["run.finished"],
      description: "Doomed subscription",
    },
  });
  const subscriptionId: string = body.data.id;
  const key = await beckon.call("/keys", { body: { name: "Doomed key", preset: "observer" } });
  const keyId: string = key.body.data.id;
  const page = await open("/keys");
  await expectFormKept(page, [
    {
      path: `/agents/${agentId}/settings`,
      act: () => remove(page, "More about this agent", "Delete agent"),
      request: ["DELETE", new RegExp(`/agents/${agentId}$`)],
      done: "Deleted Doomed agent",
    },
    {
      path: `/agents/${keptId}/triggers/${triggerId}`,
      act: () => remove(page, "More about this trigger", "Delete trigger"),
      request: ["DELETE", new RegExp(`/triggers/${triggerId}$`)],
      done: "Deleted Doomed trigger",
    },
    {
      path: `/runs/${runId}`,
      act: () => remove(page, "More about this run", "Delete run"),
      request: ["DELETE", new RegExp(`/runs/${runId}$`)],
      done: "Run deleted.",
    },
    {
      path: `/subscriptions/${subscriptionId}?act=delete`,
      act: () => button(page, "Delete subscription").click(),
      request: ["DELETE", new RegExp(`/subscriptions/${subscriptionId}$`)],
      done: "Deleted Doomed subscription",
    },
    {
      path: `/keys?key=${keyId}&act=delete`,
      act: () => button(page, "Delete key").click(),
      request: ["DELETE", new RegExp(`/keys/${keyId}$`)],
      done: "Deleted the key Doomed key",
      isLeftOpen: true,
    },
  ]);
});

inBrowser("a delete that fails after its page was left says so", async () => {
  const { body } = await beckon.call("/keys", { body: { name: "Kept", preset: "observer" } });
  const page = await open(`/keys?key=${body.data.id}&act=delete`);
  const failure = { ok: false, error: "The key is in use.", code: "conflict" };
  const held = await holdRequests(page, /\/keys\/key_\w+$/, {
    method: "DELETE",
    handle: (route) => route.fulfill({ status: 409, json: failure }),
  });
  await button(page, "Delete key").click();
  await held.reached;
  await go(page, "/agents");
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  await held.release();
  await page.getByText("“Delete key” failed.", { exact: true }).first().waitFor();
});

/** Creates a trigger that has received a request. Returns the paths of the trigger and request. */
async function receivedRequest(agentId: string) {
  const { body: presets } = await beckon.call("/trigger-presets");
  const { receiving } = presets.data.find(({ name }: { name: string }) => name === "github");
  const { id, url } = await beckon.createTrigger(agentId, { receiving });
  const path = `/agents/${agentId}/triggers/${id}`;
  const { secret } = (await beckon.call(`${path}/secret`, { body: {} })).body.data;
  const text = JSON.stringify({ action: "opened" });
  const sent = await beckon.call(url, {
    credential: null,
    body: text,
    headers: {
      "content-type": "application/json",
      "x-github-event": "issues",
      "x-github-delivery": "delivery-1",
      ...signedAsGithub(text, secret),
    },
  });
  expect(sent.status).toBeLessThan(300);
  const [{ id: requestId }] = (await beckon.call(`${path}/requests`)).body.data;
  return `${path}/requests/${requestId}`;
}

inBrowser("an action that ends on another page opens no page, and says what it did", async () => {
  const { id } = await beckon.createAgent({ name: "Desk", instructions: "Old" });
  await beckon.call(`/agents/${id}`, { method: "PATCH", body: { instructions: "New" } });
  const runId = await addRun(database, { workspaceId: owner.workspaceId, agentId: id });
  const page = await open("/keys");
  await expectFormKept(page, [
    {
      path: `/agents/${id}/playground`,
      act: () => choose(page, "More about this agent", "Duplicate"),
      request: ["POST", new RegExp(`/agents/${id}/duplicate$`)],
      done: "Created Desk (copy)",
    },
    {
      path: `/agents/${id}/versions`,
      act: async () => {
        await button(page, "Restore version 1").click();
        const dialog = page.getByRole("alertdialog");
        await dialog.getByRole("button", { name: /^Restore/ }).click();
      },
      request: ["POST", new RegExp(`/agents/${id}/versions/1/restore$`)],
      done: "Version 3 is current",
    },
    {
      path: `/runs/${runId}`,
      act: () => choose(page, "Retry", "With the current version"),
      request: ["POST", new RegExp(`/runs/${runId}/retry$`)],
      done: "The retry has started as a new run.",
    },
    {
      path: await receivedRequest(id),
      act: () => choose(page, "Replay", "With the current version"),
      request: ["POST", /\/replay$/],
      done: "The request was replayed as a new run.",
    },
    {
      path: `/agents/${id}/playground`,
      act: async () => {
        await remove(page, "More about this agent", "Delete agent");
        await button(page, "Undo").click();
      },
      request: ["POST", new RegExp(`/agents/${id}/restore$`)],
      done: "Restored Desk",
    },
  ]);
});

inBrowser("an agent that is created after its form was left is not opened", async () => {
  const page = await open("/keys");
  await go(page, "/agents/new");
  await page.getByLabel("Name", { exact: true }).fill("Left behind");
  const held = await holdRequests(page, /\/agents$/, { method: "POST", isSent: true });
  await button(page, "Create agent").click();
  await held.reached;
  await page.evaluate("history.back()");
  await button(page, "Discard agent").click();
  await page.waitForURL(/\/keys$/);
  await held.release();
  await page.getByText("Created Left behind", { exact: true }).first().waitFor();
  await renderFrames(page);
  expect(new URL(page.url()).pathname).toBe(`${workspace}/keys`);
  await button(page, "Open").click();
  await page.waitForURL(/\/agents\/agt_\w+\/playground$/);
});
