import type { Page } from "playwright-core";
import { expect } from "vitest";
import { addRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, password, setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { announceChange } from "./announce-change.ts";
import { chooseAgent } from "./choose-agent.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";
import { reloadWithStream } from "./live-stream.ts";

/**
 * Tests what happens while the dashboard waits for a response, and after a request has failed or
 * its response was lost.
 */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const workspace = `/w/${owner.workspaceId}`;

const open = (path: string) => openDashboard(beckon.url, { as: owner, path: workspace + path });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const isFocused = (page: Page, name: string) => field(page, name).and(page.locator(":focus"));

inBrowser("a second import of the same text creates the agents again", async () => {
  const page = await open("/agents/new?from=import");
  const text = page.getByLabel("Export, as YAML or JSON");
  for (const count of [1, 2]) {
    await text.fill("beckon: 1\nagents:\n- name: Twice\n  model: demo/echo\n");
    await button(page, "Import agents").click();
    await page.getByText("Created 1 agent.").waitFor();
    const { body } = await beckon.call("/agents?search=Twice");
    expect(body.data).toHaveLength(count);
    await button(page, "Import more").click();
  }
});

inBrowser("an import whose response is lost says so, and can be repeated", async () => {
  const page = await open("/agents/new?from=import");
  const text = page.getByLabel("Export, as YAML or JSON");
  await text.fill("beckon: 1\nagents:\n- name: Lost\n  model: demo/echo\n");
  const held = await holdRequests(page, /\/agents\/import$/, {
    handle: async (route) => {
      await route.fetch();
      await route.abort();
    },
  });
  await button(page, "Import agents").click();
  await held.reached;
  await expect.poll(() => text.getAttribute("readonly")).not.toBeNull();
  await held.release();
  await page.getByText("It is not known whether the agents were imported.").waitFor();
  await expect.poll(() => page.getByText("Nothing was imported.").count()).toBe(0);
  await page.unroute(/\/agents\/import$/);
  await button(page, "Import agents").click();
  await page.getByText("Created 1 agent.").waitFor();
  expect((await beckon.call("/agents?search=Lost")).body.data).toHaveLength(1);
});

inBrowser("a duplicate whose response is lost can be repeated, and is created once", async () => {
  const { id } = await beckon.createAgent({ name: "Original" });
  const page = await open(`/agents/${id}/connect`);
  const duplicate = async () => {
    await button(page, "More about this agent").click();
    await page.getByRole("menuitem", { name: "Duplicate" }).click();
  };
  await page.route(/\/duplicate$/, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await duplicate();
  await page.getByText("It is not known whether the agent was duplicated.").first().waitFor();
  await page.unroute(/\/duplicate$/);
  await page.reload();
  await duplicate();
  await page.waitForURL((url) => !url.pathname.includes(id));
  expect((await beckon.call("/agents?search=Original")).body.data).toHaveLength(2);
});

/** Makes the page refetch its lists of runs. */
const refetchRuns = (page: Page) => announceChange(page, [owner.workspaceId, "runs", "list"]);

inBrowser("the end of a list waits until the list is refetched", async () => {
  const { id: agentId } = await beckon.createAgent();
  const of = { workspaceId: owner.workspaceId, agentId };
  // A search in texts is refetched while a run that it has found has not ended.
  const statusOf = (n: number) => (n === 58 ? "running" : "succeeded");
  const add = (_: unknown, n: number) =>
    addRun(beckon.db.database, of, { status: statusOf(n), createdAt: new Date(Date.now() + n) });
  const runs = await Promise.all(Array.from({ length: 60 }, add));
  const page = await open(`/agents/${agentId}/runs?text=hello`);
  await page.getByText("50 loaded").waitFor();
  expect((await beckon.call(`/runs/${runs.sort().at(-1)}`, { method: "DELETE" })).status).toBe(204);
  const held = await holdRequests(page, /\/runs\?(?!.*after=)/);
  await refetchRuns(page);
  await held.reached;
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await renderFrames(page);
  await held.release();
  await page.getByText("59 in total").waitFor();
});

inBrowser("a list says whether rows are missing or old after a request has failed", async () => {
  const { id: agentId } = await beckon.createAgent();
  const of = { workspaceId: owner.workspaceId, agentId };
  await Promise.all(Array.from({ length: 60 }, () => addRun(beckon.db.database, of)));
  const page = await open(`/agents/${agentId}/runs`);
  await page.getByText("50 newest runs").waitFor();
  // When the stream has opened, the newest page is read again. A response to that during the test
  // would remove the error, so the test waits for a later read.
  await page.getByTitle("Live", { exact: true }).waitFor();
  const since = await page.evaluate<number>("performance.now()");
  await refetchRuns(page);
  await expect
    .poll(() =>
      page.evaluate(
        `performance.getEntriesByType("resource").some(({ name, startTime }) =>
          startTime > ${since} && name.includes("/runs?"))`,
      ),
    )
    .toBe(true);
  await renderFrames(page);
  const failure = { ok: false, error: "It failed.", code: "internal" };
  const nextPage = /\/runs\?.*after=/;
  await page.route(nextPage, (route) => route.fulfill({ status: 500, json: failure }));
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await page.getByText("The rest could not be loaded.").waitFor();
  await page.unroute(nextPage);
  await button(page, "Retry").click();
  await page.getByText("The rest could not be loaded.").waitFor({ state: "detached" });

  await page.route(/\/runs\?/, (route) => route.fulfill({ status: 500, json: failure }));
  await refetchRuns(page);
  await page.getByText(/^These rows are as of \d\d:\d\d:\d\d\.$/).waitFor();
  expect(await page.getByText("The rest could not be loaded.").count()).toBe(0);
});

inBrowser("a file that cannot be read is named", async () => {
  const page = await open("/agents/new?from=import");
  await page.getByLabel("Export, as YAML or JSON").waitFor();
  await page.evaluate("Blob.prototype.text = () => Promise.reject(new Error('not readable'))");
  await page.getByLabel("File to import").setInputFiles({
    name: "agents.yaml",
    mimeType: "application/yaml",
    buffer: Buffer.from("beckon: 1"),
  });
  await page.getByText("agents.yaml could not be read. Choose it again.").waitFor();
});

inBrowser("a model that is deleted from the field is not filled in again", async () => {
  const page = await open("/agents/new");
  const model = field(page, "Model");
  await expect.poll(() => model.inputValue()).toBe("demo/echo");
  await model.fill("x");
  await model.fill("");
  await model.focus();
  await page.keyboard.type("open/large");
  expect(await model.inputValue()).toBe("open/large");
});

inBrowser("another comparison of versions shows its own changes", async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `Rule ${index}.`);
  const { id } = await beckon.createAgent({ name: "Ruled", instructions: lines.join("\n") });
  const change = (instructions: readonly string[]) =>
    beckon.call(`/agents/${id}`, {
      method: "PATCH",
      body: { instructions: instructions.join("\n") },
    });
  await change(lines.with(19, "The last rule."));
  await change(lines.with(19, "The last rule.").with(0, "The first rule."));
  const page = await open(`/agents/${id}/versions`);
  const changes = page.getByRole("list", { name: "Changes" });
  const versions = page.getByRole("list", { name: "Versions" });
  await changes.getByText("The first rule.").waitFor();
  await versions.getByRole("link", { name: "Version 2" }).click();
  await changes.getByText("The last rule.").waitFor();
  await versions.getByRole("link", { name: "Version 3" }).click();
  await changes.getByText("The first rule.").waitFor();
});

inBrowser("an id in the URL that is no id reads no cache entry of another query", async () => {
  const { id } = await beckon.createAgent();
  const page = await open("/audit");
  await page.getByRole("table", { name: "Audit log" }).getByText("Ada").first().waitFor();
  const go = (path: string) =>
    page.evaluate(`history.pushState({}, "", ${JSON.stringify(workspace + path)})`);
  await go("/audit?entry=names&at=2026-11-23T00:00:00.000Z");
  await page.getByText("There is no such entry").waitFor();
  await go("/keys");
  await page.getByRole("table", { name: "Keys" }).waitFor();
  await go("/keys?key=list");
  await page.getByText("The key could not be loaded.").waitFor();
  await go("/runs");
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  await go("/agents/names");
  await page.getByText("There is no agent with this id in the workspace.").waitFor();
  await go(`/agents/${id}/triggers/list`);
  await page.getByText("This agent has no trigger with this id.").waitFor();
});

inBrowser("the focus stays where the person types after a form was not valid", async () => {
  await beckon.createAgent({ name: "First" });
  await beckon.createAgent({ name: "Second" });
  const page = await open("/keys?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Only some agents").click();
  await field(page, "Name").fill("");
  await button(page, "Create key").click();
  await dialog.getByText("Choose at least one agent.").waitFor();
  await isFocused(page, "Name").waitFor();
  await page.keyboard.type("Shop");
  expect(await field(page, "Name").inputValue()).toBe("Shop");
  await isFocused(page, "Name").waitFor();
  const first = dialog.getByLabel("First", { exact: true });
  await first.check();
  await dialog.getByText("Choose at least one agent.").waitFor({ state: "detached" });
  await first.uncheck();
  await dialog.getByText("Choose at least one agent.").waitFor();
  await first.and(page.locator(":focus")).waitFor();
  await button(page, "Create key").click();
  // The first checkbox gets the focus: that of the newest agent, which is listed first.
  await dialog.getByLabel("Second", { exact: true }).and(page.locator(":focus")).waitFor();
});

inBrowser("a confirmation that was closed closes nothing later, and shows its error", async () => {
  const create = async (name: string): Promise<string> =>
    (await beckon.call("/keys", { body: { name, preset: "observer" } })).body.data.id;
  const [first, second] = [await create("First key"), await create("Second key")];
  const page = await open("/keys");
  const remove = async (name: string) => {
    await button(page, `More about ${name}`).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await button(page, "Delete key").click();
  };
  const held = await holdRequests(page, new RegExp(`/keys/${first}$`));
  await remove("First key");
  await held.reached;
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Second key" }).click();
  const details = page.getByRole("dialog", { name: "Second key" });
  await details.waitFor();
  await held.release();
  await page.getByText("Deleted the key First key", { exact: true }).first().waitFor();
  await details.getByRole("button", { name: "Close" }).click();

  const failing = await holdRequests(page, new RegExp(`/keys/${second}$`), {
    handle: (route) => route.abort(),
  });
  await remove("Second key");
  await failing.reached;
  await page.keyboard.press("Escape");
  await failing.release();
  await page.getByText("“Delete key” failed.").first().waitFor();
});

inBrowser("a token that arrives after the focus has left its field stays hidden", async () => {
  const agent = await beckon.createAgent();
  const page = await open(`/agents/${agent.id}/connect`);
  for (const leave of [
    () => page.evaluate("dispatchEvent(new Event('blur'))"),
    () => button(page, "Rotate").focus(),
  ]) {
    const held = await holdRequests(page, /\/token/, { times: 1 });
    await button(page, "Reveal").click();
    await held.reached;
    await leave();
    await held.release();
    await button(page, "Reveal").and(page.locator(":enabled")).waitFor();
  }
  await button(page, "Reveal").click();
  await page.getByText(agent.token).waitFor();
});

inBrowser("what is typed and cleared while a run starts is kept", async () => {
  const { id } = await beckon.createAgent();
  const page = await open(`/agents/${id}/playground`);
  await field(page, "Instructions").fill("Answer in French.");
  await field(page, "Message").fill("One");
  await button(page, "Run").click();
  await page.getByText("Succeeded").waitFor();
  const held = await holdRequests(page, new RegExp(`/agents/${id}/.*draft`));
  await field(page, "Message").fill("Two");
  await button(page, "Run").click();
  await held.reached;
  await field(page, "Message").fill("Three");
  await button(page, "Clear").click();
  await held.release();
  const turns = page.getByRole("article");
  await turns.getByText("Succeeded").waitFor();
  expect(await field(page, "Message").inputValue()).toBe("Three");
  expect(await turns.count()).toBe(1);
});

inBrowser("a ceiling that cannot be read is not taken for one that does not exist", async () => {
  const { id } = await beckon.createAgent();
  const page = await open("/keys");
  const dialog = page.getByRole("dialog");
  for (const ceiling of [`agent:${id}`, "new"]) {
    await page.route(/\/api\/public\/limits/, (route) =>
      route.fulfill({ status: 500, json: { ok: false, error: "It failed.", code: "internal" } }),
    );
    await page.goto(`${beckon.url}${workspace}/plan?ceiling=${ceiling}`);
    await dialog.getByText("The ceiling could not be loaded.").waitFor();
    expect(await button(page, "Set ceiling").and(page.locator(":enabled")).count()).toBe(0);
    await page.unroute(/\/api\/public\/limits/);
    await dialog.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("dialog", { name: "New ceiling" }).waitFor();
    await button(page, "Set ceiling").and(page.locator(":enabled")).waitFor();
  }
});

inBrowser("a new ceiling is not set before it is known whether one exists", async () => {
  const { id } = await beckon.createAgent({ name: "Limited already" });
  const limits = `/limits/agent/${id}`;
  const body = { limit_micros: 5_000_000, pauses_agent: true };
  await beckon.call(limits, { method: "PUT", body });
  const page = await open("/keys");
  const list = await holdRequests(page, /\/limits\?/);
  const held = await holdRequests(page, new RegExp(`${limits}$`), { method: "GET" });
  await page.goto(`${beckon.url}${workspace}/plan?ceiling=new`);
  await page.getByLabel("For").selectOption("agent");
  await chooseAgent(page, "Agent", "Limited already");
  await page.getByLabel("Maximum cost of runs a day").fill("7");
  await held.reached;
  await button(page, "Set ceiling").and(page.locator(":disabled")).waitFor();
  await held.release();
  await page.getByText("This agent already has a ceiling of $5.00").waitFor();
  await button(page, "Set ceiling").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await beckon.call(limits)).body.data).toMatchObject({ ...body, limit_micros: 7_000_000 });
  await list.release();
});

inBrowser("the focus returns to the button after a dialog that follows another", async () => {
  const { id } = await beckon.createAgent();
  const page = await open(`/agents/${id}/connect`);
  await button(page, "Rotate").click();
  await button(page, "Rotate token").click();
  await page.getByRole("dialog", { name: "New API token" }).waitFor();
  await button(page, "Done").click();
  await button(page, "Rotate").and(page.locator(":focus")).waitFor();
});

inBrowser("a late answer about the session does not lead away from another page", async () => {
  const next = encodeURIComponent(`${workspace}/keys`);
  const page = await openDashboard(beckon.url, { path: `/setup#token=none` });
  const held = await holdRequests(page, /\/api\/public\/me$/, {
    times: 1,
    handle: (route) => route.fulfill({ json: { ok: true, data: { id: "usr_1", workspaces: [] } } }),
  });
  await page.goto(`${beckon.url}/sign-in?next=${next}`);
  await held.reached;
  await page.getByLabel("E-mail").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Sign in").click();
  await page.waitForURL(/\/keys$/);
  await page.getByRole("link", { name: "Members" }).first().click();
  await page.waitForURL(/\/members$/);
  await held.release();
  await page.evaluate("fetch('/api/public/me').then((response) => response.text())");
  expect(new URL(page.url()).pathname).toBe(`${workspace}/members`);
});

inBrowser("pages that cannot be loaded have a title", async () => {
  const page = await open("");
  await page.route(/\/api\/public\/(runs|subscriptions)\//, (route) =>
    route.fulfill({ status: 400, json: {} }),
  );
  const id = "0".repeat(26);
  for (const [path, title] of [
    [`/runs/run_${id}`, "Run · Beckon"],
    [`/subscriptions/sub_${id}`, "Subscription · Beckon"],
    [`/subscriptions/sub_${id}/deliveries/dlv_${id}`, "Delivery · Beckon"],
  ] as const) {
    await page.goto(beckon.url + workspace + path);
    await page.getByText(/could not be loaded\./).waitFor();
    await expect.poll(() => page.title()).toBe(title);
  }
});

inBrowser("a cancelled replay sends no more, and closes no other dialog", async () => {
  const { body } = await beckon.call("/subscriptions", {
    body: { url: "https://example.com", event_types: ["run.finished"] },
  });
  const page = await open(`/subscriptions/${body.data.id}?act=replay`);
  let requests = 0;
  const held = await holdRequests(page, "**/replay", {
    handle: (route) => {
      requests += 1;
      const next_until = new Date(Date.now() - 60_000).toISOString();
      return route.fulfill({ json: { ok: true, data: { replayed: 3, more: true, next_until } } });
    },
  });
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Replay", exact: true }).click();
  await held.reached;
  await button(page, "Cancel").click();
  await button(page, "Edit").click();
  await page.getByLabel("Description").fill("Being typed");
  await held.release();
  await page.getByText("3 deliveries are pending again").first().waitFor();
  expect(requests).toBe(1);
  expect(await page.getByLabel("Description").inputValue()).toBe("Being typed");
  expect(await page.getByRole("alertdialog").count()).toBe(0);
});

const invite = async (email: string): Promise<string> =>
  (await beckon.call("/invitations", { body: { email, role: "viewer" } })).body.data.token;

inBrowser("a person has joined although the response was lost", async () => {
  const path = `/invite#token=${await invite("eve@example.com")}`;
  const page = await openDashboard(beckon.url, { path });
  await page.route(/\/invitations\/accept$/, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByLabel("Your name").fill("Eve");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Join").click();
  await page.waitForURL(/\/w\/wsp_\w+$/);
});

inBrowser("a link that was used is not needed again if only the sign-in failed", async () => {
  const path = `/invite#token=${await invite("max@example.com")}`;
  const page = await openDashboard(beckon.url, { path });
  await page.route(/\/sign-in$/, (route) => route.abort(), { times: 1 });
  await page.getByLabel("Your name").fill("Eve");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Join").click();
  await page.getByText("Beckon did not respond.").waitFor();
  await button(page, "Join").click();
  await page.waitForURL(/\/w\/wsp_\w+$/);
});

inBrowser("a member joins another workspace although the response was lost", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const created = await beckon.call("/workspaces", { body: { name: "Other" } });
  expect(created.status).toBe(201);
  const { id: otherId, key: credential } = created.body.data;
  const invited = await beckon.call("/invitations", {
    credential,
    body: { email: person.email, role: "viewer" },
  });
  const path = `/invite#token=${invited.body.data.token}`;
  const page = await openDashboard(beckon.url, { as: person, path });
  await page.route(/\/invitations\/accept$/, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await button(page, "Join").click();
  await page.waitForURL(new RegExp(`/w/${otherId}`));
});

inBrowser("nobody joins with an account that the page did not name", async () => {
  const path = `/invite#token=${await invite("zoe@example.com")}`;
  const page = await openDashboard(beckon.url, { as: owner, path });
  const other = { id: "usr_2", email: "other@example.com", workspaces: [] };
  await button(page, "Join").waitFor();
  await page.route(/\/api\/public\/me$/, (route) =>
    route.fulfill({ json: { ok: true, data: other } }),
  );
  await button(page, "Join").click();
  await page.getByText(`You are no longer signed in as ${owner.email}.`).waitFor();
  await page.getByText("You are signed in as other@example.com.").waitFor();
});

inBrowser("after a restore all data is read again, and open forms stay open", async () => {
  const { body } = await beckon.call("/subscriptions", {
    body: { url: "https://receiver.example/events", event_types: ["run.finished"] },
  });
  const path = `/subscriptions/${body.data.id}`;
  const page = await open(`${path}?act=edit`);
  const { reset } = await reloadWithStream(page);
  const dialog = page.getByRole("dialog", { name: "Edit the subscription" });
  await dialog.getByLabel("Description").fill("Half typed");
  const held = await holdRequests(page, new RegExp(`/api/public${path}(\\?|$)`), { isSent: true });
  await reset();
  await page.getByText("The database was restored.").waitFor();
  await held.reached;
  await held.release();
  await renderFrames(page);
  expect(await dialog.getByLabel("Description").inputValue()).toBe("Half typed");

  await beckon.call(path, { method: "DELETE" });
  await reset();
  await page.getByRole("heading", { name: "Subscription not found" }).waitFor();
});
