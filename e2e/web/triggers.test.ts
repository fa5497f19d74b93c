import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests } from "./hold-requests.ts";

/** Tests the screens with the triggers of an agent and the payloads that they received. */

const beckon = await startTestBeckon();
const editor = await addPerson(beckon, { role: "editor" });
const viewer = await addPerson(beckon, { role: "viewer" });
const { body: me } = await editor.call("/me");
const workspaceId: string = me.data.workspaces[0].id;

const pathOf = (agentId: string, triggerId?: string) =>
  `/w/${workspaceId}/agents/${agentId}/triggers${triggerId === undefined ? "" : `/${triggerId}`}`;
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const received = (page: Page) => page.getByRole("table", { name: "Received payloads" });
const fire = async (url: string, body: unknown) =>
  (await beckon.call(url, { credential: null, body })).status;

async function openTrigger(fields: Record<string, unknown> = {}, as: { cookie: string } = editor) {
  const agent = await beckon.createAgent({ name: "Refund desk" });
  const trigger = await beckon.createTrigger(agent.id, { name: "Payments", ...fields });
  const page = await openDashboard(beckon.url, { as, path: pathOf(agent.id, trigger.id) });
  return { agent, trigger, page };
}

inBrowser("a new trigger is not discarded without a question", async () => {
  const agent = await beckon.createAgent();
  const page = await openDashboard(beckon.url, { as: editor, path: pathOf(agent.id) });
  await page.getByRole("link", { name: "New trigger" }).click();
  await page.getByLabel("Prompt prefix").fill("Answer in French.");
  await page.keyboard.press("Escape");
  await page.getByText("Close without saving?").waitFor();
});

inBrowser("the first trigger: examples, a name, its URL, a test and what it received", async () => {
  const agent = await beckon.createAgent();
  const page = await openDashboard(beckon.url, { as: editor, path: pathOf(agent.id) });
  for (const example of ["A form", "A payment event", "A CI job"])
    await page.getByText(example, { exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "New trigger" }).click();
  await page.getByLabel("Name", { exact: true }).fill("   ");
  await button(page, "Create").click();
  await page.getByText("Must not be blank.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Payments");
  await button(page, "Create").click();

  const dialog = page.getByRole("dialog", { name: "Payments is ready" });
  const url = (await dialog.getByText(/\/api\/public\/triggers\/bkt_/).textContent()) ?? "";
  await button(page, "Send test").click();
  await dialog.getByText("Succeeded").waitFor();
  await button(page, "Done").click();
  await page.waitForURL(/\/triggers\/trg_\w+$/);
  await received(page)
    .getByRole("row", { name: /order.*Succeeded/ })
    .waitFor();
  await expect.poll(() => page.content()).not.toContain(url.split("/").at(-1));

  expect(await fire(url, "Order 4712")).toBe(200);
  await received(page)
    .getByRole("row", { name: /Order 4712.*Succeeded/ })
    .waitFor();
  await page.getByRole("link", { name: "All runs" }).click();
  await page.waitForURL(/\/runs\?trigger_id=trg_\w+$/);
  await page.getByRole("row", { name: /Order 4712/ }).waitFor();
});

inBrowser("an empty list of payloads leads to the payload of the test", async () => {
  const { page } = await openTrigger();
  await button(page, "Write a test payload").click();
  await page.getByLabel("Example payload").and(page.locator(":focus")).waitFor();
});

inBrowser("new payloads wait while one reads further down", async () => {
  const { page, trigger } = await openTrigger();
  await page.setViewportSize({ width: 1_440, height: 500 });
  await page.getByTitle("Live", { exact: true }).waitFor();
  expect(await fire(trigger.url, "Order 1")).toBe(200);
  const row = (name: string) => received(page).getByRole("row", { name });
  await row("Order 1").waitFor();
  await page.mouse.move(700, 250);
  await page.mouse.wheel(0, 2_000);
  await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(400);
  expect(await fire(trigger.url, "Order 2")).toBe(200);
  await button(page, "New payloads").waitFor();
  await expect.poll(() => row("Order 2").count()).toBe(0);
  await button(page, "New payloads").click();
  await row("Order 2").waitFor();
  await expect.poll(() => page.evaluate("scrollY")).toBe(0);
});

inBrowser("a new trigger that is cancelled leaves a trigger open", async () => {
  const { page, agent, trigger } = await openTrigger();
  await beckon.createTrigger(agent.id, { name: "Newest" });
  const cancel = () => page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "New trigger" }).click();
  await cancel();
  await page.waitForURL((url) => url.href.endsWith(pathOf(agent.id, trigger.id)));
  await page.getByRole("heading", { name: "Payments" }).waitFor();
  await page.goto(`${beckon.url}${pathOf(agent.id)}?new=blank`);
  await cancel();
  await page.waitForURL(/\/triggers\/trg_\w+$/);
});

inBrowser("an example fills in the form", async () => {
  const agent = await beckon.createAgent();
  const page = await openDashboard(beckon.url, { as: editor, path: pathOf(agent.id) });
  await page.getByRole("link", { name: "Use the example: A CI job" }).click();
  await expect
    .poll(() => page.getByLabel("Name", { exact: true }).inputValue())
    .toBe("Failed builds");
  await expect.poll(() => page.getByLabel("Prompt prefix").inputValue()).toContain("failed");
});

inBrowser(
  "while the senders cannot be read, no trigger is created that does not verify the chosen one",
  async () => {
    const agent = await beckon.createAgent();
    const page = await openDashboard(beckon.url, { as: editor, path: pathOf(agent.id) });
    await page.route("**/trigger-presets*", (route) => route.fulfill({ status: 400, json: {} }));
    await page.getByRole("link", { name: /^Use the example: GitHub/ }).click();
    // Counts only alerts with text. The form has its alert from the start, but the alert is empty
    // until something is rejected.
    const problems = page.getByRole("dialog").getByRole("alert").filter({ hasText: /\S/ });
    await expect.poll(() => problems.count()).toBe(1);
    await button(page, "Create").click();
    await expect.poll(() => problems.count()).toBe(2);
    expect((await beckon.call(`/agents/${agent.id}/triggers`)).body.data).toEqual([]);
    await page.unroute("**/trigger-presets*");
    await button(page, "Create").click();
    await page.getByRole("dialog", { name: "Connect GitHub" }).waitFor();
  },
);

inBrowser("the preview is the input of the run, in each content type", async () => {
  const { page, trigger } = await openTrigger({ prompt_prefix: "Paid:" });
  const preview = page.getByRole("region", { name: "Resulting input" });
  const prefix = page.getByLabel("Prompt prefix");
  await prefix.fill("A payment arrived:");
  await preview.getByText("A payment arrived:").waitFor();
  await button(page, "JSON").hover();
  await expect.poll(() => button(page, "Send test").getAttribute("aria-disabled")).toBe("true");
  await button(page, "Save prefix").click();
  await page.getByText("Saved", { exact: true }).waitFor();

  const payload = page.getByLabel("Example payload");
  await payload.fill('{"order": 4711');
  await button(page, "Send test").click();
  await page.getByText("This is not JSON.").waitFor();
  await payload.fill('{"order":   4711}');
  for (const type of ["JSON", "Text", "Form"]) {
    await button(page, type).click();
    // Waits until the page shows the type: the click changes the URL, and the page follows later.
    await page.getByRole("button", { name: type, exact: true, pressed: true }).waitFor();
    const [response] = await Promise.all([
      page.waitForResponse((given) => given.url().endsWith(`${trigger.id}/test`)),
      button(page, "Send test").click(),
    ]);
    const { data } = (await response.json()) as { data: { input: string } };
    await expect.poll(() => preview.locator("pre").textContent()).toBe(data.input);
  }
  await expect.poll(() => new URL(page.url()).search).toBe("?payload=form");
  await received(page)
    .getByRole("row", { name: /"paid":"true".*Succeeded/ })
    .waitFor();
  await expectAccessible(page);
  await payload.fill("order=1");
  await page.getByRole("link", { name: "Open the run" }).click();
  await payload.waitFor({ state: "detached" });
  await page.goBack();
  await expect.poll(() => payload.inputValue()).toBe("order=1");
});

inBrowser("a prefix that cannot be stored says so at its field, and is not sent", async () => {
  const { page } = await openTrigger();
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") sent.push(request.url());
  });
  const prefix = page.getByLabel("Prompt prefix");
  await prefix.fill("A payment arrived:\0");
  await button(page, "Save prefix").click();
  await page.getByText("Must not contain NUL or a lone surrogate.").waitFor();
  await prefix.and(page.locator(":focus[aria-invalid=true]")).waitFor();
  expect(sent).toEqual([]);
});

inBrowser("leaving with a prefix that is not saved asks first", async () => {
  const { page } = await openTrigger({ prompt_prefix: "Saved before" });
  await page.getByLabel("Prompt prefix").fill("Not saved");
  await button(page, "Text").click();
  await page.getByRole("link", { name: "Connect" }).click();
  await page.getByRole("alertdialog", { name: "Leave without saving?" }).waitFor();
  await button(page, "Cancel").click();
  await expect.poll(() => page.getByLabel("Prompt prefix").inputValue()).toBe("Not saved");
  await button(page, "Discard").click();
  await expect.poll(() => page.getByLabel("Prompt prefix").inputValue()).toBe("Saved before");
  await page.getByRole("link", { name: "Connect", exact: true }).click();
  await page.waitForURL(/\/connect$/);
});

inBrowser("an undone edit of a prefix is no change, whatever its line breaks are", async () => {
  const { page } = await openTrigger({ prompt_prefix: "One\r\nTwo" });
  const prefix = page.getByLabel("Prompt prefix");
  await expect.poll(() => prefix.inputValue()).toBe("One\nTwo");
  await prefix.press("x");
  await button(page, "Discard").waitFor();
  await prefix.press("ControlOrMeta+Z");
  await button(page, "Discard").waitFor({ state: "detached" });
});

inBrowser("what is typed while the prefix is being saved is kept", async () => {
  const { page, agent, trigger } = await openTrigger({ prompt_prefix: "Before" });
  const path = `/agents/${agent.id}/triggers/${trigger.id}`;
  const held = await holdRequests(page, `**${path}`, { method: "PATCH" });
  const prefix = page.getByLabel("Prompt prefix");
  await prefix.fill("Sent");
  await button(page, "Save prefix").click();
  await held.reached;
  await prefix.fill("Typed later");
  await held.release();
  const saved = async () => (await beckon.call(path)).body.data.prompt_prefix;
  await expect.poll(saved).toBe("Sent");
  await expect.poll(() => button(page, "Save prefix").isEnabled()).toBe(true);
  await expect.poll(() => prefix.inputValue()).toBe("Typed later");
  await button(page, "Save prefix").click();
  await expect.poll(saved).toBe("Typed later");
});

inBrowser("a prefix that somebody else has changed meanwhile is not overwritten", async () => {
  const { page, agent, trigger } = await openTrigger({ prompt_prefix: "Before" });
  await page.getByLabel("Prompt prefix").fill("Mine");
  const path = `/agents/${agent.id}/triggers/${trigger.id}`;
  await beckon.call(path, { method: "PATCH", body: { prompt_prefix: "Theirs" } });
  await button(page, "Save prefix").click();
  const merge = page.getByRole("dialog", { name: "Someone else saved this trigger" });
  await merge.getByRole("radio", { name: "Theirs" }).check();
  await button(page, "Save merged").click();
  await merge.waitFor({ state: "detached" });
  await expect.poll(() => page.getByLabel("Prompt prefix").inputValue()).toBe("Theirs");
});

inBrowser("a trigger is disabled, enabled and renamed", async () => {
  const { agent, page, trigger } = await openTrigger();
  const enabled = page.getByRole("switch", { name: "Enabled", exact: true });
  const held = await holdRequests(page, `**/triggers/${trigger.id}`, { method: "PATCH" });
  await enabled.click();
  await held.reached;
  await enabled.and(page.locator("[aria-busy=true]:focus")).waitFor();
  await page.keyboard.press("Space");
  await held.release();
  await page.getByRole("listitem").getByText("Disabled").waitFor();
  expect(await fire(trigger.url, "Hello")).toBe(409);
  await enabled.click();
  await page.getByRole("listitem").getByText("Disabled").waitFor({ state: "detached" });
  expect(await fire(trigger.url, "Hello")).toBe(200);

  const callbacks = { name: /^Allow callbacks/ };
  await page.getByRole("switch", callbacks).click();
  await page.getByRole("switch", { ...callbacks, checked: true }).waitFor();
  const { body } = await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}`);
  expect(body.data.allows_callback).toBe(true);

  const rename = async (name: string) => {
    await button(page, "More about this trigger").click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Name", { exact: true }).fill(name);
    await button(page, "Save").click();
  };
  await rename("");
  await page.getByText("Fill this in.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Refunds");
  await button(page, "Save").click();
  await page.getByRole("heading", { name: "Refunds" }).waitFor();
  await page.getByRole("link", { name: "Refunds" }).waitFor();
});

inBrowser("a URL is revealed for a moment, rotated, and stops with its trigger", async () => {
  const { page, trigger } = await openTrigger();
  await button(page, "Reveal").click();
  await page.getByText(trigger.url).waitFor();
  await page.evaluate("dispatchEvent(new Event('blur'))");
  await page.getByText(trigger.url).waitFor({ state: "detached" });

  await button(page, "Rotate").click();
  await page.getByLabel("Now").check();
  const held = await holdRequests(page, /\/rotate$/, { method: "POST", isSent: true });
  await button(page, "Rotate URL").click();
  await held.reached;
  // The rotation cannot be cancelled any more, so the dialog waits for the URL.
  await page.keyboard.press("Escape");
  await held.release();
  const dialog = page.getByRole("dialog", { name: "New URL of Payments" });
  const url = (await dialog.getByText(/triggers\/bkt_/).textContent()) ?? "";
  expect([await fire(trigger.url, "Hello"), await fire(url, "Hello")]).toEqual([401, 200]);
  await button(page, "Done").click();

  await button(page, "More about this trigger").click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByText("Its URL stops at once").waitFor();
  await button(page, "Delete trigger").click();
  await page.getByRole("link", { name: "New trigger" }).waitFor();
  await page.getByText("A payment event", { exact: true }).waitFor();
  expect(await fire(url, "Hello")).toBe(401);
});

inBrowser("a trigger is deleted although its prefix is not saved", async () => {
  const { page } = await openTrigger();
  await page.getByLabel("Prompt prefix").fill("Not saved");
  await button(page, "More about this trigger").click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await button(page, "Delete trigger").click();
  await page.getByText("Deleted Payments", { exact: true }).waitFor();
  await page.waitForURL(/\/triggers$/);
});

inBrowser("a viewer sees triggers and what they received, and changes nothing", async () => {
  const hostile = '"><img src=x onerror="document.title=1">';
  const { page, trigger, agent } = await openTrigger(
    { name: hostile, prompt_prefix: hostile },
    viewer,
  );
  await page.getByRole("heading", { name: hostile }).waitFor();
  expect(await fire(trigger.url, hostile)).toBe(200);
  await received(page).getByRole("link", { name: hostile }).waitFor();
  for (const name of ["Reveal", "Rotate", "Send test", "Save prefix", "New trigger"])
    await expect.poll(() => button(page, name).getAttribute("aria-disabled")).toBe("true");
  for (const name of [/^Enabled$/, /^Allow callbacks/])
    await expect.poll(() => page.getByRole("switch", { name }).isDisabled()).toBe(true);
  await page.getByRole("switch", { name: /^Enabled$/ }).focus();
  await page.keyboard.press("Space");
  await page.getByRole("tooltip", { name: "This needs the role editor." }).waitFor();
  await expect.poll(() => page.getByLabel("Prompt prefix").getAttribute("readonly")).not.toBeNull();
  await expect.poll(() => page.title()).not.toBe("1");

  const phone = await openDashboard(beckon.url, {
    as: viewer,
    path: pathOf(agent.id),
    viewport: viewports.narrow,
    theme: "dark",
  });
  await phone.getByRole("link", { name: hostile }).click();
  await phone.waitForURL(new RegExp(`${trigger.id}$`));
  await expectAccessible(phone);
  await phone.getByRole("link", { name: "All triggers" }).click();
  await phone.waitForURL(/\/triggers$/);
});

inBrowser("a trigger that does not exist leads to the others", async () => {
  const agent = await beckon.createAgent();
  const page = await openDashboard(beckon.url, {
    as: editor,
    path: pathOf(agent.id, "trg_00000000000000000000000000"),
  });
  await page.getByText("This agent has no trigger with this id.").waitFor();
  await page.getByRole("link", { name: "Show all triggers" }).click();
  await page.getByRole("link", { name: "New trigger" }).waitFor();
});

inBrowser("the list counts requests that started no run as received", async () => {
  const verification = { kind: "header", header: "x-key" };
  const { agent, trigger, page } = await openTrigger({
    name: "Signed",
    receiving: { verification },
  });
  await editor.call(`/agents/${agent.id}/triggers/${trigger.id}/secret`, { body: {} });
  const without = await beckon.createTrigger(agent.id, { name: "Without settings" });
  const item = (list: Page, name: string) =>
    list.getByRole("list", { name: "Triggers" }).getByRole("listitem").filter({ hasText: name });
  await item(page, "Signed").getByText("Nothing received").waitFor();
  expect(await fire(trigger.url, "Not signed")).toBe(401);
  await item(page, "Signed")
    .getByText(/^Received/)
    .waitFor();
  const path = pathOf(agent.id, trigger.id);
  const later = await openDashboard(beckon.url, { as: editor, path });
  await item(later, "Signed")
    .getByText(/^Received/)
    .waitFor();
  // Beckon keeps no record of requests to a trigger without settings, only of their runs.
  await item(later, "Without settings").getByText("No runs yet").waitFor();

  // The page finds a new run with one read of the runs of all triggers. It does not read the
  // received requests of the other trigger again.
  await later.getByTitle("Live", { exact: true }).waitFor();
  await item(later, "Without settings").click();
  await later.waitForURL((url) => !url.pathname.endsWith(trigger.id));
  await later.getByRole("heading", { name: "Without settings" }).waitFor();
  await later.getByRole("table", { name: "Received requests" }).waitFor({ state: "detached" });
  const reads: string[] = [];
  later.on("request", (request) => {
    if (request.url().includes(`/${trigger.id}/requests`)) reads.push(request.url());
  });
  expect(await fire(without.url, "Order 4713")).toBe(200);
  await item(later, "Without settings")
    .getByText(/^Received/)
    .waitFor();
  expect(reads).toEqual([]);
});

inBrowser("of a request whose contents were not stored, none are stated", async () => {
  const { trigger, page } = await openTrigger({
    receiving: { form: { origins: ["https://example.com"] } },
  });
  expect(await fire(trigger.url, "From elsewhere")).toBe(403);
  await page
    .getByRole("table", { name: "Received requests" })
    .getByRole("row", { name: /Rejected/ })
    .getByRole("link")
    .click();
  const contents = page.getByRole("region", { name: "Request", exact: true });
  const headers = contents.getByRole("region", { name: "Headers" });
  await headers.getByText("Not stored", { exact: true }).waitFor();
  expect(await page.getByText("0 B", { exact: true }).count()).toBe(0);
  await expectAccessible(page);
});
