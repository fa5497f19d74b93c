import type { Page } from "playwright-core";
import { expect } from "vitest";
import { addRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { announceChange } from "./announce-change.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests } from "./hold-requests.ts";

/** Tests what happens when somebody else saves or deletes what a screen shows. */

// The next attempt of a failed delivery is always so near that its page is refetched every 2 s.
const beckon = await startTestBeckon({ BECKON_RETRY_SCHEDULE: "0,120,120" });
const owner = await createOwner(beckon.url, await setupToken(beckon));

const open = (path: string) =>
  openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}${path}` });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

/** Makes the page refetch all queries whose keys begin with `queryKey`. */
const refetch = (page: Page, ...queryKey: readonly string[]) => announceChange(page, queryKey);

inBrowser("a key that somebody renames while it is edited keeps its new name", async () => {
  const { body } = await beckon.call("/keys", { body: { name: "Before", preset: "observer" } });
  const { id } = body.data;
  const page = await open(`/keys?key=${id}&act=edit`);
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Expires").selectOption("365");
  await beckon.call(`/keys/${id}`, { method: "PATCH", body: { name: "Renamed" } });
  await refetch(page, owner.workspaceId, "keys");
  await page.getByText("Renamed", { exact: true }).waitFor();
  await button(page, "Save key").click();
  await dialog.waitFor({ state: "detached" });
  expect((await beckon.call(`/keys/${id}`)).body.data).toMatchObject({ name: "Renamed" });
});

inBrowser("a scope that somebody takes from a key while it is edited stays away", async () => {
  const scopes = ["runs:read", "usage:read"];
  const { id } = (await beckon.call("/keys", { body: { name: "Taken", scopes } })).body.data;
  const page = await open(`/keys?key=${id}&act=edit`);
  await page.getByLabel("agents:read").check();
  await beckon.call(`/keys/${id}`, { method: "PATCH", body: { scopes: ["runs:read"] } });
  await button(page, "Save key").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const { data } = (await beckon.call(`/keys/${id}`)).body;
  expect(data).toMatchObject({ scopes: ["runs:read", "agents:read"] });
});

inBrowser("an agent of a key that somebody deletes can be removed from the key", async () => {
  const [kept, deleted] = [
    await beckon.createAgent({ name: "Kept" }),
    await beckon.createAgent({ name: "Gone" }),
  ];
  const grant = { preset: "invoke", agent_ids: [kept.id, deleted.id] };
  const { id } = (await beckon.call("/keys", { body: { name: "Limited", ...grant } })).body.data;
  const page = await open(`/keys?key=${id}&act=edit`);
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Gone", { exact: true }).waitFor();
  const failure = { ok: false, error: "It failed.", code: "bad_request" };
  const list = /\/agents\?/;
  await page.route(list, (route) => route.fulfill({ status: 400, json: failure }));
  await refetch(page, owner.workspaceId, "agents");
  await dialog.getByText(/^These rows are as of/).waitFor();
  await dialog.getByLabel("Kept", { exact: true }).waitFor();
  await page.unroute(list);
  await beckon.call(`/agents/${deleted.id}`, { method: "DELETE" });
  await refetch(page, owner.workspaceId, "agents");
  await dialog.getByRole("button", { name: /^Remove the agent .* \(deleted\)$/ }).click();
  await button(page, "Save key").click();
  await dialog.waitFor({ state: "detached" });
  const { data } = (await beckon.call(`/keys/${id}`)).body;
  expect(data).toMatchObject({ agent_ids: [kept.id] });
});

inBrowser("a new key is not sent to a provider's address that somebody else saved", async () => {
  const [before, after] = ["http://127.0.0.1:9/before", "http://127.0.0.1:9/after"];
  const { id } = await beckon.createProvider(before, "moved");
  const page = await open(`/providers?edit=${id}`);
  await page.getByLabel("API key").fill("sk-0123456789ab");
  await beckon.call(`/providers/${id}`, { method: "PATCH", body: { base_url: after } });
  await refetch(page, owner.workspaceId, "providers");
  await page.getByTitle(after, { exact: true }).waitFor();
  await button(page, "Save and check").click();
  await page.getByText(`Somebody else has changed the base URL to ${after}.`).waitFor();
  const { data } = (await beckon.call(`/providers/${id}`)).body;
  expect(data).toMatchObject({ base_url: after, api_key_last4: null });
});

inBrowser("the address of a provider that somebody has marked as free is not changed", async () => {
  const { id } = await beckon.createProvider("http://127.0.0.1:9/before", "marked");
  const page = await open(`/providers?edit=${id}`);
  await page.getByLabel("Base URL").fill("http://127.0.0.1:9/after");
  await beckon.call(`/providers/${id}`, { method: "PATCH", body: { free: true } });
  await button(page, "Save and check").click();
  await page.getByText("Somebody else has marked the provider as free.").waitFor();
  const { data } = (await beckon.call(`/providers/${id}`)).body;
  expect(data).toMatchObject({ base_url: "http://127.0.0.1:9/before", free: true });
});

inBrowser("a ceiling that somebody changes while it is edited keeps its new amount", async () => {
  const { id } = await beckon.createAgent({ name: "Limited" });
  const limits = `/limits/agent/${id}`;
  const set = (limit_micros: number) =>
    beckon.call(limits, { method: "PUT", body: { limit_micros } });
  await set(1_000_000);
  const page = await open(`/plan?ceiling=agent:${id}`);
  await page.getByLabel("Pause the agent when the ceiling is reached").check();
  await set(5_000_000);
  await refetch(page, owner.workspaceId, "limits");
  const amount = page.getByLabel("Maximum cost of runs a day");
  await expect.poll(() => amount.inputValue()).toBe("5");
  await button(page, "Set ceiling").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const { data } = (await beckon.call(limits)).body;
  expect(data).toMatchObject({ limit_micros: 5_000_000, pauses_agent: true });
});

inBrowser("prices that somebody changes while others are edited stay changed", async () => {
  const { name } = await beckon.createProvider("http://127.0.0.1:9/v1", "priced");
  const model = `${name}/large`;
  await beckon.createAgent({ model });
  const rates = { input_micros_per_million: 1_000_000, output_micros_per_million: 2_000_000 };
  const price = (await beckon.call("/prices", { body: { model, ...rates } })).body.data;
  const page = await open("/prices");
  await button(page, `More about the price of ${model}`).click();
  await page.getByRole("menuitem", { name: "Change price" }).click();
  await field(page, "Output").fill("3");
  const changed = { input_micros_per_million: 4_000_000 };
  await beckon.call(`/prices/${price.id}`, { method: "PATCH", body: changed });
  await refetch(page, owner.workspaceId, "prices");
  await page.getByText("$4.00").waitFor();
  await button(page, "Set price").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const [{ current }] = (await beckon.call(`/prices?model=${model}`)).body.data;
  expect(current).toMatchObject({ ...changed, output_micros_per_million: 3_000_000 });
});

inBrowser("allowances of a plan that somebody changes stay changed", async () => {
  const plan = (await beckon.call("/plans", { body: { name: "team", tokens: 1_000 } })).body.data;
  const page = await open(`/plan?plan=${plan.id}`);
  await field(page, "Voice").fill("60");
  await beckon.call(`/plans/${plan.id}`, { method: "PATCH", body: { tokens: 2_000 } });
  await refetch(page, owner.workspaceId, "plans");
  await page.getByText("2,000").waitFor();
  await button(page, "Save plan").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const { data } = (await beckon.call(`/plans/${plan.id}`)).body;
  expect(data).toMatchObject({ tokens: 2_000, voice_ms: 60_000 });
});

inBrowser("a trigger that somebody renames keeps its name if it is not edited here", async () => {
  const agent = await beckon.createAgent();
  const { id } = await beckon.createTrigger(agent.id, { name: "Before" });
  const page = await open(`/agents/${agent.id}/triggers/${id}`);
  await button(page, "More about this trigger").click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await field(page, "Name").waitFor();
  const path = `/agents/${agent.id}/triggers/${id}`;
  await beckon.call(path, { method: "PATCH", body: { name: "Renamed" } });
  await refetch(page, owner.workspaceId, "triggers");
  await page.getByText("Renamed", { exact: true }).first().waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await beckon.call(path)).body.data).toMatchObject({ name: "Renamed" });
});

inBrowser(
  "an edit of a trigger that was undone does not hide what somebody else saves",
  async () => {
    const agent = await beckon.createAgent();
    const page = await open("/keys");
    for (const [rest, save] of [
      ["", "Save prefix"],
      ["/settings", "Save"],
    ] as const) {
      const { id } = await beckon.createTrigger(agent.id, { prompt_prefix: "Before" });
      const path = `/agents/${agent.id}/triggers/${id}`;
      await page.goto(`${beckon.url}/w/${owner.workspaceId}${path}${rest}`);
      const prefix = page.getByRole("textbox", { name: /^Prompt prefix/ });
      await prefix.fill("Typed");
      await prefix.fill("Before");
      await beckon.call(path, { method: "PATCH", body: { prompt_prefix: "Theirs" } });
      await refetch(page, owner.workspaceId, "triggers");
      await expect.poll(() => prefix.inputValue()).toBe("Theirs");
      await prefix.fill("Mine");
      await button(page, save).click();
      await page.getByText("Saved", { exact: true }).waitFor();
      expect((await beckon.call(path)).body.data).toMatchObject({ prompt_prefix: "Mine" });
    }
  },
);

inBrowser("a role that somebody changes is not changed back without a choice", async () => {
  const { id, email } = await addPerson(beckon, { role: "viewer" });
  const page = await open("/members");
  const row = page.getByRole("row").filter({ hasText: email });
  await row.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Change role…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Viewer", checked: true }).waitFor();
  await beckon.call(`/members/${id}`, { method: "PATCH", body: { role: "editor" } });
  await refetch(page, owner.workspaceId, "members");
  await dialog.getByRole("radio", { name: "Editor", checked: true }).waitFor();
  await button(page, "Change role").and(page.locator(":disabled")).waitFor();
});

inBrowser("a tool that is edited replaces itself, but no change of somebody else", async () => {
  const tool = (name: string, description = "Reads.") => ({
    type: "http",
    name,
    allowed_hosts: ["api.example.com"],
    operations: [
      {
        name: `read_${name}`,
        description,
        method: "GET",
        url: "https://api.example.com/",
      },
    ],
  });
  const { id } = await beckon.createAgent({ tools: [tool("first"), tool("second")] });
  const page = await open(`/agents/${id}/settings`);
  await button(page, "Edit second").click();
  await page.getByLabel("What it does").fill("Reads all.");
  await beckon.call(`/agents/${id}`, { method: "PATCH", body: { tools: [tool("second")] } });
  await refetch(page, owner.workspaceId, "agents");
  await page.getByText("v2", { exact: true }).waitFor();
  await button(page, "Keep changes").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await button(page, "Save").click();
  await page.getByText("Saved v3").waitFor();
  const { tools } = (await beckon.call(`/agents/${id}`)).body.data;
  expect(tools).toMatchObject([{ name: "second", operations: [{ description: "Reads all." }] }]);
  await button(page, "Edit second").click();
  await page.getByLabel("What it does").fill("Mine.");
  const theirs = { tools: [tool("second", "Theirs.")] };
  await beckon.call(`/agents/${id}`, { method: "PATCH", body: theirs });
  await refetch(page, owner.workspaceId, "agents");
  await page.getByText("v4", { exact: true }).waitFor();
  await button(page, "Keep changes").click();
  await page.getByText("This tool has changed since you opened it.").waitFor();
  await page.keyboard.press("Escape");
  await button(page, "Discard changes").click();

  await button(page, "Remove second").click();
  const added = { tools: [...theirs.tools, tool("third")] };
  await beckon.call(`/agents/${id}`, { method: "PATCH", body: added });
  await button(page, "Save").click();
  await page.getByText("Saved v6").waitFor();
  const { tools: merged } = (await beckon.call(`/agents/${id}`)).body.data;
  expect(merged).toMatchObject([{ name: "third" }]);
});

inBrowser("what is typed after Save stays unsaved, also if changes must be merged", async () => {
  const { id } = await beckon.createAgent({ description: "Old", instructions: "Be brief." });
  const page = await open(`/agents/${id}/settings`);
  await field(page, "Description").fill("Mine");
  const theirs = { description: "Theirs", instructions: "Be kind." };
  await beckon.call(`/agents/${id}`, { method: "PATCH", body: theirs });
  const held = await holdRequests(page, new RegExp(`/agents/${id}$`), { method: "PATCH" });
  await button(page, "Save").click();
  await held.reached;
  await field(page, "Instructions").fill("Typed later");
  await held.release();
  await page.getByRole("radio", { name: "Yours Mine" }).check();
  await button(page, "Save merged").click();
  await page.getByText("Unsaved: Instructions").waitFor();
  expect(await field(page, "Instructions").inputValue()).toBe("Typed later");
  const saved = { version: 3, description: "Mine", instructions: "Be kind." };
  expect((await beckon.call(`/agents/${id}`)).body.data).toMatchObject(saved);
  await button(page, "Save").click();
  await page.getByRole("radio", { name: "Theirs Be kind." }).waitFor();
  await page.getByRole("radio", { name: "Yours Typed later" }).check();
  await button(page, "Save merged").click();
  await page.getByText("Saved v4").waitFor();
  const { data } = (await beckon.call(`/agents/${id}`)).body;
  expect(data).toMatchObject({ description: "Mine", instructions: "Typed later" });
});

const newSubscription = async (): Promise<string> => {
  const body = { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] };
  return `/subscriptions/${(await beckon.call("/subscriptions", { body })).body.data.id}`;
};
const newDelivery = async (subscription: string): Promise<string> => {
  const { body } = await beckon.call(`${subscription}/test`, { method: "POST" });
  return `${subscription}/deliveries/${body.data.id}`;
};

inBrowser("a merged subscription that is rejected says why, as does the next attempt", async () => {
  const path = await newSubscription();
  const page = await open(`${path}?act=edit`);
  const dialog = page.getByRole("dialog", { name: "Edit the subscription" });
  await dialog.getByLabel("Description").fill("Mine");
  await beckon.call(path, { method: "PATCH", body: { description: "Theirs" } });
  let error: string | undefined;
  await page.route(`**/api/public${path}`, (route) =>
    error === undefined || route.request().method() !== "PATCH"
      ? route.continue()
      : route.fulfill({ status: 400, json: { ok: false, error, code: "bad_request" } }),
  );
  await button(page, "Save subscription").click();
  await page.getByRole("radio", { name: "Yours" }).check();
  error = "description: must be shorter";
  await button(page, "Save merged").click();
  await dialog.getByText("Must be shorter.", { exact: true }).waitFor();
  await dialog.getByLabel("Description").and(page.locator(":focus")).waitFor();
  error = "It was rejected.";
  await button(page, "Save subscription").click();
  await dialog.getByText("It was rejected.", { exact: true }).waitFor();
});

inBrowser("a test of a subscription stays open if somebody pauses the subscription", async () => {
  const path = await newSubscription();
  const page = await open(`${path}?act=test`);
  const dialog = page.getByRole("dialog", { name: "Send a test" });
  await dialog.waitFor();
  await beckon.call(`${path}/pause`, { method: "POST" });
  await refetch(page, owner.workspaceId, "subscriptions");
  await page.getByText("Paused", { exact: true }).waitFor();
  expect(await dialog.count()).toBe(1);
});

inBrowser("what somebody deletes is no longer shown as if it existed", async () => {
  const { id: agentId } = await beckon.createAgent();
  const run = `/runs/${await addRun(beckon.db.database, { workspaceId: owner.workspaceId, agentId })}`;
  const trigger = `/agents/${agentId}/triggers/${(await beckon.createTrigger(agentId)).id}`;
  const [first, second] = [await newSubscription(), await newSubscription()];
  const page = await open("/keys");
  for (const [path, shown, deleted, message] of [
    [run, "More about this run", run, "Run not found"],
    [trigger, "More about this trigger", trigger, "This agent has no trigger with this id."],
    [`/agents/${agentId}/connect`, "Pause", `/agents/${agentId}`, "Agent not found"],
    [first, "Edit", first, "Subscription not found"],
    [await newDelivery(second), "Copy delivery id", second, "Delivery not found"],
  ] as const) {
    await page.goto(`${beckon.url}/w/${owner.workspaceId}${path}`);
    await button(page, shown).first().waitFor();
    expect((await beckon.call(deleted, { method: "DELETE" })).status).toBe(204);
    await refetch(page, owner.workspaceId);
    await page.getByRole("main").getByText(message).waitFor();
    expect(await button(page, shown).count()).toBe(0);
  }
});

inBrowser("unsaved changes of what somebody deletes stay until they are discarded", async () => {
  const { id } = await beckon.createAgent({ name: "Deleted too early" });
  const page = await open(`/agents/${id}/settings`);
  await field(page, "Instructions").fill("Half typed");
  await beckon.call(`/agents/${id}`, { method: "DELETE" });
  await refetch(page, owner.workspaceId, "agents");
  await page.getByText("This agent was deleted.").waitFor();
  await page.getByText("Deleted", { exact: true }).waitFor();
  expect(await button(page, "Pause").count()).toBe(0);
  expect(await field(page, "Instructions").inputValue()).toBe("Half typed");
  await button(page, "Discard").click();
  await page.getByRole("heading", { name: "Agent not found" }).waitFor();

  const subscription = await newSubscription();
  await page.goto(`${beckon.url}/w/${owner.workspaceId}${subscription}?act=edit`);
  const description = page.getByRole("dialog").getByLabel("Description");
  await description.fill("Half typed");
  await beckon.call(subscription, { method: "DELETE" });
  await refetch(page, owner.workspaceId, "subscriptions");
  await page.getByText("This subscription was deleted.").waitFor();
  expect(await description.inputValue()).toBe("Half typed");
  await page.keyboard.press("Escape");
  await button(page, "Discard changes").click();
  await page.getByRole("heading", { name: "Subscription not found" }).waitFor();
});

inBrowser("an unsaved prefix of a trigger stays when somebody chooses a sender", async () => {
  const agent = await beckon.createAgent();
  const path = `/agents/${agent.id}/triggers/${(await beckon.createTrigger(agent.id)).id}`;
  const page = await open(path);
  await page.getByRole("textbox", { name: /^Prompt prefix/ }).fill("Half typed");
  const receiving = { verification: { kind: "header", header: "x-key" } };
  await beckon.call(path, { method: "PATCH", body: { receiving } });
  await refetch(page, owner.workspaceId, "triggers");
  await page.getByText("A sender was chosen meanwhile.").waitFor();
  await button(page, "Save prefix").click();
  await page.getByRole("heading", { name: "Connection" }).waitFor();
  const { data } = (await beckon.call(path)).body;
  expect(data).toMatchObject({ prompt_prefix: "Half typed", receiving });
});

inBrowser("a form stays open if its row leaves the list", async () => {
  const { id, name } = await beckon.createProvider("http://127.0.0.1:9/v1", "leaving");
  const model = `${name}/large`;
  const agent = await beckon.createAgent({ name: "Leaving", model });
  const plan = (await beckon.call("/plans", { body: { name, tokens: 1 } })).body.data;
  const ceiling = `/limits/agent/${agent.id}`;
  await beckon.call(ceiling, { method: "PUT", body: { limit_micros: 1_000_000 } });
  const key = (await beckon.call("/keys", { body: { name, preset: "observer" } })).body.data;
  const page = await open("/keys");
  const dialog = page.getByRole("dialog");
  const remove = { method: "DELETE" };
  for (const [search, row, label, path, change] of [
    [`/plan?plan=${plan.id}`, `the plan ${name}`, "Voice", `/plans/${plan.id}`, remove],
    [
      `/plan?ceiling=agent:${agent.id}`,
      "the ceiling of the agent Leaving",
      "Maximum cost of runs a day",
      ceiling,
      remove,
    ],
    [
      `/prices?model=${model}`,
      `the price of ${model}`,
      "Output",
      `/agents/${agent.id}`,
      { method: "PATCH", body: { model: "demo/echo" } },
    ],
    [`/providers?edit=${id}`, name, "Base URL", `/providers/${id}`, remove],
    [`/keys?key=${key.id}&act=edit`, name, "Name", `/keys/${key.id}`, remove],
  ] as const) {
    await page.goto(`${beckon.url}/w/${owner.workspaceId}${search}`);
    const more = page.locator(`[aria-label="More about ${row}"]`);
    await more.waitFor();
    await dialog.getByLabel(label).fill("7");
    expect((await beckon.call(path, change)).status).toBeLessThan(300);
    await refetch(page, owner.workspaceId);
    await more.waitFor({ state: "detached" });
    expect(await dialog.getByLabel(label).inputValue()).toBe("7");
    await page.keyboard.press("Escape");
    await button(page, "Discard changes").click();
  }
});

inBrowser("a new secret stays shown if somebody takes the right to change keys", async () => {
  const { body } = await beckon.call("/keys", { body: { name: "Rotated", preset: "observer" } });
  const admin = await addPerson(beckon, { role: "admin" });
  const path = `/w/${owner.workspaceId}/keys?key=${body.data.id}&act=rotate`;
  const page = await openDashboard(beckon.url, { as: admin, path });
  await button(page, "Rotate key").click();
  const secret = page.getByRole("dialog").getByText(/^bkw_/);
  await secret.waitFor();
  await beckon.call(`/members/${admin.id}`, { method: "PATCH", body: { role: "editor" } });
  await refetch(page, "me");
  await page.locator("button[aria-disabled=true]", { hasText: "New key" }).waitFor();
  expect(await secret.count()).toBe(1);
});

inBrowser("a screen whose refetch fails says as of when its data is", async () => {
  const { id } = await beckon.createAgent();
  const delivery = await newDelivery(await newSubscription());
  const page = await open("/keys");
  for (const [path, shown, noun] of [
    [`/agents/${id}/connect`, "Pause", "agent"],
    [delivery, "Copy delivery id", "delivery"],
  ] as const) {
    await page.goto(`${beckon.url}/w/${owner.workspaceId}${path}`);
    await button(page, shown).first().waitFor();
    const failure = { ok: false, error: "It failed.", code: "internal" };
    const url = new RegExp(`/api/public${path.replace("/connect", "")}$`);
    await page.route(url, (route) => route.fulfill({ status: 500, json: failure }));
    await refetch(page, owner.workspaceId);
    const title = page.getByText(new RegExp(`^This is the ${noun} as of \\d\\d:\\d\\d:\\d\\d\\.$`));
    await title.waitFor();
    await button(page, shown).first().waitFor();
    // A delivery with a scheduled attempt is refetched by itself. While the requests still fail, no
    // refetch of the agent can remove the button before the click.
    const retried = noun === "agent" ? page.waitForRequest(url) : undefined;
    if (noun === "agent") await button(page, "Retry").click();
    await retried;
    await page.unroute(url);
    if (noun === "agent") await refetch(page, owner.workspaceId);
    await title.waitFor({ state: "detached" });
  }
});

inBrowser(
  "a plan and lists without a table say that they are old after a failed refetch",
  async () => {
    const { id } = await beckon.createAgent();
    await beckon.createTrigger(id, { name: "Payments" });
    await beckon.createProvider("http://127.0.0.1:9", "listed");
    const page = await open("/keys");
    for (const [path, shown] of [
      [`/agents/${id}/versions`, "Version 1"],
      [`/agents/${id}/triggers`, "Payments"],
      ["/providers", "listed"],
      ["/plan", "0 used · unlimited"],
    ] as const) {
      await page.goto(`${beckon.url}/w/${owner.workspaceId}${path}`);
      await page.getByText(shown, { exact: true }).first().waitFor();
      const failure = { ok: false, error: "It failed.", code: "bad_request" };
      const url = new RegExp(`/api/public${path}(\\?|$)`);
      await page.route(url, (route) => route.fulfill({ status: 400, json: failure }));
      await refetch(page, owner.workspaceId);
      const title = page.getByText(/^(These rows are|This is the plan) as of \d\d:\d\d:\d\d\.$/);
      await title.waitFor();
      await page.getByText(shown, { exact: true }).first().waitFor();
      await page.unroute(url);
      await button(page, "Retry").click();
      await title.waitFor({ state: "detached" });
    }
  },
);
