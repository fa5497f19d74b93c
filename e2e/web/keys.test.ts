import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests } from "./hold-requests.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const path = `/w/${owner.workspaceId}/keys`;

const open = (search = "", as: { readonly cookie: string } = owner) =>
  openDashboard(beckon.url, { as, path: path + search });
const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

async function createKey(body: Record<string, unknown>) {
  const answer = await beckon.call("/keys", { body });
  expect(answer.status).toBe(201);
  return answer.body.data as { id: string; key: string };
}
const shownSecret = async (page: Page) =>
  (await page.getByRole("dialog").getByText(/^bkw_/).textContent()) ?? "";
async function chooseInPalette(page: Page, name: string) {
  await page.keyboard.press("Control+K");
  await page.getByRole("combobox", { name: "Find, go and act" }).fill(name);
  await page.getByRole("option", { name: new RegExp(`^${name}`), selected: true }).waitFor();
  await page.keyboard.press("Enter");
}
const statusOf = async (key: string) => (await beckon.call("/agents", { credential: key })).status;

inBrowser("a key is made with four presses, shown once, and works", async () => {
  const page = await open("");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("radio", { name: /^Observer/ }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  const secret = await shownSecret(page);
  expect(await statusOf(secret)).toBe(200);
  // Escape does not close the dialog, because it shows the secret only once.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "I have stored it" }).click();
  const row = rowOf(page, "Observer key");
  await row.getByText("Ada").waitFor();
  await expect.poll(() => page.content()).not.toContain(secret);
});

inBrowser("a key can be limited to scopes, agents and days", async () => {
  const agent = await beckon.createAgent({ name: "Refund desk" });
  const page = await open("?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Choose scopes" }).click();
  await dialog.getByLabel("runs:read").click();
  await dialog.getByLabel("Only some agents").click();
  await expect.poll(() => dialog.getByLabel("providers:read").isDisabled()).toBe(true);
  await dialog.getByLabel("Refund desk").click();
  await dialog.getByLabel("Expires").selectOption("other");
  await dialog.getByLabel("Days from now").fill("3");
  await dialog.getByLabel("Name").fill("Narrow");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  const row = rowOf(page, "Narrow");
  await row.getByText("In 2 days").waitFor();
  await row.getByRole("button", { name: "Scopes of Narrow: 2 scopes" }).click();
  await page.getByText("Start runs and read their output").waitFor();
  const [key] = (await beckon.call("/keys?limit=1")).body.data;
  expect(key).toMatchObject({ scopes: ["agents:invoke", "runs:read"], agent_ids: [agent.id] });
});

inBrowser("Enter in the search of agents does not create the key yet", async () => {
  const names = Array.from({ length: 9 }, (_, index) => `Searched ${index}`);
  const agents = await Promise.all(names.map((name) => beckon.createAgent({ name })));
  const page = await open("?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Searched");
  await dialog.getByLabel("Only some agents").click();
  await dialog.getByLabel("Searched 3").check();
  await dialog.getByLabel("Search agents").fill("searched 5");
  await page.keyboard.press("Enter");
  await dialog.getByLabel("Searched 5").check();
  await dialog.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  const [key] = (await beckon.call("/keys?limit=1")).body.data;
  expect(key.agent_ids.toSorted()).toEqual([agents[3]?.id, agents[5]?.id].toSorted());
});

inBrowser("each field of a wrong form says what to enter", async () => {
  const page = await open("?new=1");
  const dialog = page.getByRole("dialog");
  const submit = () => dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByLabel("Name").fill("");
  await submit();
  await dialog.getByText("Enter a name").waitFor();
  await dialog.getByLabel("Name").fill("x".repeat(201));
  await dialog.getByText("Use at most 200 characters.").waitFor();
  await dialog.getByLabel("Name").fill("Fine");
  await dialog.getByRole("button", { name: "Choose scopes" }).click();
  await dialog.getByLabel("agents:invoke").click();
  await dialog.getByLabel("Only some agents").click();
  await dialog.getByLabel("Expires").selectOption("other");
  await dialog.getByLabel("Days from now").fill("0");
  await submit();
  await dialog.getByText("Choose at least one scope.").waitFor();
  await dialog.getByText("Choose at least one agent.").waitFor();
  await dialog.getByText("Enter a whole number of days").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await dialog.waitFor({ state: "detached" });
});

inBrowser("a key is rotated, and the old secret stops at once", async () => {
  const old = await createKey({ name: "Rotated", preset: "observer" });
  const page = await open();
  await page.getByRole("button", { name: "More about Rotated" }).click();
  await page.getByRole("menuitem", { name: "Rotate" }).click();
  await page.getByRole("radio", { name: /^Now/, checked: true }).waitFor();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const secret = await shownSecret(page);
  expect([await statusOf(old.key), await statusOf(secret)]).toEqual([401, 200]);
});

inBrowser("neither Escape nor leaving the page loses a secret that has not arrived", async () => {
  const { id } = await createKey({ name: "Awaited", preset: "observer" });
  for (const [search, url, submit, title] of [
    [`?key=${id}&act=rotate`, /\/keys\/[^/]+\/rotate$/, "Rotate key", "New secret of Awaited"],
    ["?new=1", /\/keys$/, "Create key", /^Created /],
  ] as const) {
    const page = await open(search);
    const dialog = page.getByRole("dialog");
    const held = await holdRequests(page, url, { method: "POST", isSent: true });
    await dialog.getByRole("button", { name: submit }).click();
    await held.reached;
    // The page refetches the list of keys after the change. It must show the secret without waiting
    // for the list.
    const list = await holdRequests(page, /\/keys\?/);
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Cancel", disabled: true }).waitFor();
    await chooseInPalette(page, "Runs");
    const question = page.getByRole("alertdialog", { name: /^Leave / });
    await question.getByRole("button", { name: "Cancel" }).click();
    await held.release();
    await page.getByRole("dialog", { name: title }).getByText(/^bkw_/).waitFor();
    await list.release();
  }
});

inBrowser("a secret that is not stored yet is not lost without a question", async () => {
  await createKey({ name: "Unstored", preset: "observer" });
  const page = await open();
  await page.getByRole("link", { name: "Unstored" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const secret = await shownSecret(page);
  const question = page.getByRole("alertdialog", { name: "Leave before you have stored it?" });
  for (const leave of [
    () => chooseInPalette(page, "Runs"),
    // Both stay on the page, but without the search parameters that name the dialog.
    () => chooseInPalette(page, "Keys"),
    () => page.evaluate("history.back()"),
  ]) {
    await leave();
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL(/&act=rotate$/);
    expect(await shownSecret(page)).toBe(secret);
  }
  const asked = page.waitForEvent("dialog");
  await page.evaluate("setTimeout(() => location.reload())");
  await (await asked).dismiss();
  expect(await shownSecret(page)).toBe(secret);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.waitForURL(/\/keys$/);
  expect(await question.count()).toBe(0);
});

inBrowser("a sign-out closes a secret that is not stored yet, after a question", async () => {
  const { id } = await createKey({ name: "Closed", preset: "observer" });
  const admin = await addPerson(beckon, { role: "admin" });
  const page = await open(`?key=${id}&act=rotate`, admin);
  await page.getByRole("button", { name: "Rotate key" }).click();
  await shownSecret(page);
  await chooseInPalette(page, "Sign out");
  const question = page.getByRole("alertdialog", { name: /^Sign out and discard/ });
  await question.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

inBrowser("a key is edited and deleted", async () => {
  const scopes = ["runs:read", "usage:read"];
  const { id, key } = await createKey({ name: "Edited", scopes, expires_in_days: 5 });
  const page = await open(`?key=${id}`);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Edit" }).click();
  // The list of scopes is hidden, which changes none.
  await dialog.getByRole("button", { name: "Choose scopes", expanded: true }).click();
  await dialog.getByText("2 scopes", { exact: true }).waitFor();
  await dialog.getByLabel("Name").fill("Changed");
  await dialog.getByLabel("Expires").selectOption("365");
  await dialog.getByRole("button", { name: "Save key" }).click();
  const row = rowOf(page, "Changed");
  await row.waitFor();
  const { data } = (await beckon.call(`/keys/${id}`)).body;
  expect(data).toMatchObject({ name: "Changed", scopes, agent_ids: null });
  expect(Date.parse(data.expires_at)).toBeGreaterThan(Date.now() + 300 * 86_400_000);
  await row.getByRole("button", { name: /^More/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete key" }).click();
  await page.getByText("Deleted the key Changed", { exact: true }).waitFor();
  await row.waitFor({ state: "detached" });
  expect(await statusOf(key)).toBe(401);
});

inBrowser("a deleted key takes its invitations along, which other tabs show", async () => {
  const { key } = await createKey({ name: "Inviting", preset: "everything" });
  const invitation = { email: "grace@example.com", role: "viewer" };
  await beckon.call("/invitations", { credential: key, body: invitation });
  const page = await open();
  const other = await page.context().newPage();
  await other.goto(`${beckon.url}/w/${owner.workspaceId}/members`);
  const row = rowOf(other, invitation.email);
  await row.waitFor();
  expect(await row.getByText("Not valid").count()).toBe(0);
  await page.getByRole("button", { name: "More about Inviting" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByText("open invitations and reset links that it made stop").waitFor();
  await page.getByRole("button", { name: "Delete key" }).click();
  await row.getByText("Not valid").waitFor();
});

inBrowser("after a key is deleted, the focus is on the key that took its place", async () => {
  for (const name of ["Next", "Deleted"]) await createKey({ name, preset: "observer" });
  const page = await open();
  const row = rowOf(page, "Deleted");
  await row.getByRole("button", { name: /^More/ }).press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).press("Enter");
  await page.getByRole("button", { name: "Delete key" }).press("Enter");
  await row.waitFor({ state: "detached" });
  await expect.poll(() => page.locator(":focus").allTextContents()).toEqual(["Next"]);
});

inBrowser("the bootstrap key says how it is changed, and offers nothing else", async () => {
  const page = await open();
  await page.getByRole("link", { name: /bootstrap/i }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("BECKON_BOOTSTRAP_KEY").waitFor();
  await expect.poll(() => dialog.getByRole("button", { name: "Rotate" }).count()).toBe(0);
});

inBrowser("an admin cannot grant what only owners have", async () => {
  const admin = await addPerson(beckon, { role: "admin" });
  const page = await open("?new=1", admin);
  const dialog = page.getByRole("dialog");
  await expect
    .poll(() => dialog.getByRole("radio", { name: /^Everything/ }).isDisabled())
    .toBe(true);
  await dialog.getByText(/^Your role does not have .*workspaces:own/).waitFor();
  await dialog.getByRole("button", { name: "Choose scopes" }).click();
  await expect
    .poll(() => dialog.getByRole("checkbox", { name: /^workspaces:own/ }).isDisabled())
    .toBe(true);
});

inBrowser("an admin sees and removes a scope of a key that only owners can grant", async () => {
  const admin = await addPerson(beckon, { role: "admin" });
  const { id } = await createKey({ name: "Owner's", scopes: ["agents:read", "workspaces:own"] });
  const page = await open(`?key=${id}&act=edit`, admin);
  const dialog = page.getByRole("dialog");
  const own = dialog.getByRole("checkbox", { name: /^workspaces:own/ });
  await expect.poll(() => own.isChecked()).toBe(true);
  await dialog.getByRole("checkbox", { name: /^agents:write/ }).check();
  await dialog.getByRole("button", { name: "Save key" }).click();
  await dialog.getByText(/does not include workspaces:own/).waitFor();
  await own.uncheck();
  await dialog.getByRole("button", { name: "Save key" }).click();
  await dialog.waitFor({ state: "detached" });
  const { scopes } = (await beckon.call(`/keys/${id}`)).body.data;
  expect(scopes).toEqual(["agents:read", "agents:write"]);
});

inBrowser("an editor sees keys and cannot change them, a viewer does not see them", async () => {
  const { id } = await createKey({ name: "Seen", preset: "invoke" });
  const editor = await addPerson(beckon, { role: "editor" });
  const page = await open(`?key=${id}&act=delete`, editor);
  const dialog = page.getByRole("dialog");
  const remove = dialog.getByRole("button", { name: "Delete" });
  await expect.poll(() => remove.getAttribute("aria-disabled")).toBe("true");
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect
    .poll(() => page.getByRole("button", { name: "New key" }).getAttribute("aria-disabled"))
    .toBe("true");
  const viewer = await addPerson(beckon, { role: "viewer" });
  const forbidden = await open("", viewer);
  await forbidden.getByText("editor").waitFor();
  await expect.poll(() => forbidden.getByRole("table").count()).toBe(0);
});

inBrowser("names of keys and agents are text, and fit a narrow phone", async () => {
  const name = `"><img src=x onerror=alert(1)> ${"wide ".repeat(30)}`;
  const agent = await beckon.createAgent({ name });
  const { id } = await createKey({ name, preset: "invoke", agent_ids: [agent.id] });
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `${path}?key=${id}`,
    viewport: viewports.narrow,
  });
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { name: /<img src=x/ }).waitFor();
  await dialog
    .locator("dd")
    .getByText(/<img src=x/)
    .waitFor();
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollWidth"))
    .toBe(viewports.narrow.width);
});

inBrowser("the list and the form are accessible", async () => {
  const page = await open();
  await page.getByRole("table").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("button", { name: "Choose scopes" }).click();
  await expectAccessible(page);
});
