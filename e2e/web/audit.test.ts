import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const path = `/w/${owner.workspaceId}/audit`;
const payload = "<img src=x onerror=alert(1)>";

const agent = await beckon.createAgent({ name: "Refund desk", instructions: "You answer." });
const asOwner = { headers: { cookie: owner.cookie, origin: beckon.url }, credential: null };
await beckon.call(`/agents/${agent.id}/token/rotate`, { ...asOwner, method: "POST" });
await beckon.call(`/agents/${agent.id}`, {
  ...asOwner,
  method: "PATCH",
  body: { instructions: payload, limits: { timeout_seconds: 77 } },
});
const injected = await beckon.createAgent({ name: payload });
await beckon.call(`/agents/${injected.id}`, { ...asOwner, method: "DELETE" });

inBrowser("entries are sentences with names, and things are links", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const table = page.getByRole("table", { name: "Audit log" });
  await table.getByText("Ada rotated the token of the agent Refund desk").waitFor();
  await table.getByText(`Ada deleted the agent ${payload}`).waitFor();
  await expectAccessible(page);
  await table.getByRole("link", { name: "Refund desk" }).first().click();
  await page.waitForURL(new RegExp(`/agents/${agent.id}`));
});

inBrowser("an audit log that is opened again shows what was done since", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const table = page.getByRole("table", { name: "Audit log" });
  await table.getByText("Ada rotated the token").waitFor();
  const go = (name: string) => page.getByRole("link", { name, exact: true }).first().click();
  await go("Keys");
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  await beckon.call(`/agents/${agent.id}/token`, asOwner);
  await go("Audit");
  await table.getByText("Ada revealed the token").waitFor();
});

inBrowser("an entry shows what changed, and its address can be sent to somebody", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: `${path}?action=agent.update` });
  await page.getByRole("link", { name: /^Details/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Limits: timeout seconds", { exact: false }).waitFor();
  await dialog.getByText("77", { exact: true }).waitFor();
  await dialog.getByText("You answer.").waitFor();
  await dialog.getByText(payload).waitFor();
  await expectAccessible(page);
  await page.waitForURL(/[?&]entry=/);
  const address = new URL(page.url());
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // The filtered list does not contain the entry, so the page requests the entry itself.
  address.searchParams.set("action", "key.create");
  await page.goto(address.href);
  await dialog.getByText("77", { exact: true }).waitFor();
  address.searchParams.set("entry", "aud_unknown");
  await page.goto(address.href);
  await page.getByRole("heading", { name: "There is no such entry" }).waitFor();
});

inBrowser("filters are in the address; without a match they can be cleared", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: "Action" }).click();
  await page.getByRole("button", { name: "Agent: token rotated" }).click();
  await page.waitForURL(/\?action=agent\.token\.rotate$/);
  // The page shows the whole list until the filtered list is loaded. Both contain the entry below,
  // so the test waits until only one row is left.
  await expect.poll(() => page.getByRole("link", { name: /^Details/ }).count()).toBe(1);
  await page.getByText("Ada rotated the token of the agent Refund desk").waitFor();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: "Until" }).click();
  await page.getByLabel("Until, time in UTC").fill("2020-01-01T00:00");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("No entry matches these filters.").waitFor();
  await expect
    .poll(() => new URL(page.url()).searchParams.get("until"))
    .toBe("2020-01-01T00:00:00.000Z");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("Ada signed in").waitFor();
});

inBrowser("an actor is found by name, or entered by id if the list does not have it", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const choose = async () => {
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("menuitem", { name: "Actor" }).click();
    return page.getByRole("textbox", { name: "Search Actor" });
  };
  await (await choose()).fill("bec");
  await expect.poll(() => page.getByRole("button", { name: "Ada", exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Beckon", exact: true }).click();
  await page.waitForURL(/actor=system/);
  await page.getByRole("button", { name: "Remove filter Actor" }).click();
  const search = await choose();
  await search.fill("nobody");
  await page.getByText("Nothing matches.").waitFor();
  await search.fill("key_deleted");
  await page.getByRole("button", { name: "Use this id" }).click();
  await page.waitForURL(/actor=key%3Akey_deleted/);
});

inBrowser("a filter that the server rejects says why", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: `${path}?since=yesterday` });
  await page.getByRole("alert").getByText(/since/).waitFor();
  await page.getByRole("button", { name: "Remove filter From" }).click();
  await page.getByText("Ada signed in").waitFor();
});

inBrowser("the entries that match are saved to a file", async () => {
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `${path}?action=agent.delete`,
    viewport: viewports.narrow,
  });
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export" }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe(`audit-${owner.workspaceId}.jsonl`);
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { action: "agent.delete", target: injected.id },
  ]);
});

inBrowser("a viewer learns which role the page needs", async () => {
  const viewer = await addPerson(beckon, { role: "viewer" });
  const page = await openDashboard(beckon.url, { as: viewer, path });
  await page.getByText("This page needs the role admin.").waitFor();
});

inBrowser("a time that is missing, or typed in part, is not applied and says so", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: `${path}?since=` });
  const from = page.getByLabel(/^From, time in /);
  await from.fill("");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Choose a time.").waitFor();
  await from.focus();
  await page.keyboard.type("12");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Complete the time that is typed in part.").waitFor();
  await from.fill("2026-01-02T03:04");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/since=2026-01-02T03/);
});
