import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { announceChange } from "./announce-change.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests } from "./hold-requests.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const path = `/w/${owner.workspaceId}/members`;
const payload = "<img src=x onerror=alert(1)>";

/** Adds a member with this name, and returns their generated e-mail address. */
async function addNamed(name: string, role: string): Promise<string> {
  const email = `${crypto.randomUUID()}@example.com`;
  const { body } = await beckon.call("/invitations", { body: { email, role } });
  await beckon.call("/invitations/accept", {
    credential: null,
    headers: { origin: beckon.url },
    body: { token: body.data.token, name, password: "correct horse battery staple" },
  });
  return email;
}

inBrowser("an invitation takes four actions, is shown once, and can be revoked", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-mail").fill("grace@example.com");
  await dialog.getByRole("radio", { name: "Editor" }).check();
  await dialog.getByRole("button", { name: "Make link" }).click();
  await dialog.getByText(/\/invite#token=bki_/).waitFor();
  await dialog.getByText(/^Role: Editor. Expires/).waitFor();
  await expectAccessible(page);
  // The confirmation is shown for two seconds only.
  const copied = dialog.getByText("Copied").first().waitFor();
  await dialog.getByRole("button", { name: "Copy Invitation link" }).click();
  await copied;
  await dialog.getByRole("button", { name: "I have stored it" }).click();

  const open = page.getByRole("table", { name: "Open invitations" });
  await open.getByRole("row", { name: /grace@example.com Editor Ada/ }).waitFor();
  await beckon.db.database.engine.query("update invitations set created_by = 'key:key_deleted'");
  await page.reload();
  await open.getByRole("row", { name: /A key Not valid/ }).waitFor();
  await page.getByText("its issuer can no longer invite").waitFor();
  await open.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke invitation" }).click();
  await open.waitFor({ state: "detached" });
});

inBrowser(
  "after an invitation is revoked, the focus is on the next one, or the heading",
  async () => {
    for (const name of ["first", "second"]) {
      const body = { email: `${name}@example.com`, role: "viewer" };
      expect((await beckon.call("/invitations", { body })).status).toBe(201);
    }
    const page = await openDashboard(beckon.url, { as: owner, path });
    const rows = page.getByRole("table", { name: "Open invitations" }).locator("tbody tr");
    const emails = rows.locator("td:first-child");
    await expect.poll(() => emails.count()).toBe(2);
    const [, last = ""] = await emails.allTextContents();
    for (const next of [last, "Members"]) {
      await rows.first().getByRole("button", { name: "Revoke" }).press("Enter");
      await page.getByRole("button", { name: "Revoke invitation" }).press("Enter");
      await expect.poll(() => page.locator(":focus").allTextContents()).toEqual([next]);
    }
  },
);

inBrowser(
  "a wrong address is said at its field, and what was typed is not lost without a question",
  async () => {
    const page = await openDashboard(beckon.url, { as: owner, path: `${path}?dialog=invite` });
    const dialog = page.getByRole("dialog");
    const make = dialog.getByRole("button", { name: "Make link" });
    for (const [typed, error] of [
      ["", /must be an e-mail address/i],
      ["not an address", /must be an e-mail address/i],
      [owner.email, /is a member of this workspace already/],
    ] as const) {
      await dialog.getByLabel("E-mail").fill(typed);
      await make.click();
      await dialog.getByText(error).waitFor();
      await expect
        .poll(() => dialog.getByLabel("E-mail").getAttribute("aria-invalid"))
        .toBe("true");
    }
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "Close without saving?" }).waitFor();
    await page.getByRole("button", { name: "Discard changes" }).click();
    await dialog.waitFor({ state: "detached" });
  },
);

inBrowser("a role is changed, and the member is removed after a question", async () => {
  const email = await addNamed("Linus", "editor");
  const page = await openDashboard(beckon.url, { as: owner, path });
  const row = page.getByRole("row", { name: new RegExp(email) });
  await row.getByRole("button", { name: "Actions for Linus" }).click();
  await page.getByRole("menuitem", { name: "Change role" }).click();
  await page.getByRole("radio", { name: "Viewer" }).check();
  const rejection = { ok: false, error: "It was rejected.", code: "bad_request" };
  const held = await holdRequests(page, /\/members\//, {
    method: "PATCH",
    times: 1,
    handle: (route) => route.fulfill({ status: 400, json: rejection }),
  });
  const change = page.getByRole("button", { name: "Change role" });
  await change.click();
  await held.reached;
  // Closing the dialog would not stop the request, but hide its error.
  await page.getByRole("button", { name: "Cancel", disabled: true }).waitFor();
  await page.keyboard.press("Escape");
  // Another role would not be saved.
  await page.getByRole("radio", { name: "Admin" }).click({ force: true });
  await held.release();
  await page.getByRole("dialog").getByText("It was rejected.").waitFor();
  await change.click();
  await row.getByRole("cell", { name: "Viewer" }).waitFor();

  await row.getByRole("button", { name: "Actions for Linus" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByText("Keys, tokens and trigger URLs that they have seen still work").waitFor();
  await page.getByRole("link", { name: "audit log" }).click();
  await page.getByText("Linus joined the workspace as editor").waitFor();
  await page.goBack();
  await row.getByRole("button", { name: "Actions for Linus" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove member" }).click();
  await row.waitFor({ state: "detached" });
});

inBrowser("a lower role takes away the invitations that it could not make", async () => {
  const admin = await addPerson(beckon, { role: "admin" });
  const email = "barbara@example.com";
  await admin.call("/invitations", { body: { email, role: "editor" } });
  const page = await openDashboard(beckon.url, { as: owner, path });
  const invitation = page.getByRole("table", { name: "Open invitations" }).getByText(email);
  await invitation.waitFor();
  const row = page.getByRole("row", { name: new RegExp(admin.email) });
  await row.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Change role" }).click();
  await page.getByText("so do invitations that the new role could not make").waitFor();
  await page.getByRole("radio", { name: "Viewer" }).check();
  await page.getByRole("button", { name: "Change role" }).click();
  // Behind an open dialog, the table has no role.
  await row.getByRole("cell", { name: "Viewer" }).waitFor();
  await invitation.waitFor({ state: "detached" });
});

inBrowser("an admin cannot revoke the invitation of an owner", async () => {
  const admin = await addPerson(beckon, { role: "admin" });
  for (const role of ["owner", "admin"])
    await beckon.call("/invitations", { body: { email: `${role}@example.com`, role } });
  const page = await openDashboard(beckon.url, { as: admin, path });
  const revoke = (email: string) =>
    page.getByRole("row", { name: new RegExp(`^${email}`) }).getByRole("button");
  await revoke("admin@example.com").and(page.locator(":not([aria-disabled=true])")).waitFor();
  await revoke("owner@example.com").and(page.locator("[aria-disabled=true]")).focus();
  await page.getByText("Only an owner can do this.").waitFor();
});

inBrowser("a person who was removed sees why the page is not live", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const page = await openDashboard(beckon.url, { as: person, path });
  await page.getByTitle("Live", { exact: true }).waitFor();
  const { status } = await beckon.call(`/members/${person.id}`, { method: "DELETE" });
  expect(status).toBe(204);
  await page.getByTitle("You are not a member of any workspace").getByText("Not live").waitFor();
});

inBrowser("a person in no workspace can sign out", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  await beckon.call(`/members/${person.id}`, { method: "DELETE" });
  const page = await openDashboard(beckon.url, { as: person });
  await page.getByRole("heading", { name: "You are in no workspace" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
  await page.getByLabel("E-mail").waitFor();
});

inBrowser("the last owner can neither leave nor become an admin", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const actions = page.getByRole("button", { name: "Actions for Ada" });
  await actions.click();
  await page.getByRole("menuitem", { name: "Change role" }).click();
  await page.getByRole("radio", { name: "Admin" }).check();
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByRole("alert").getByText("This is the last owner of the workspace.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await actions.click();
  await page.getByRole("menuitem", { name: "Leave workspace" }).click();
  await page.getByRole("button", { name: "Leave workspace" }).click();
  await page.getByRole("alert").getByText("This is the last owner of the workspace.").waitFor();
});

inBrowser("a reset link is shown once, with its expiry", async () => {
  const email = await addNamed("Mary", "viewer");
  const page = await openDashboard(beckon.url, { as: owner, path, viewport: viewports.narrow });
  await page.getByRole("button", { name: "Actions for Mary" }).click();
  await page.getByRole("menuitem", { name: "Make a reset link" }).click();
  await page.getByText(`sets a new password for ${email}`).waitFor();
  await page.getByRole("button", { name: "Make link" }).click();
  await page.getByText(/\/reset#token=bkr_/).waitFor();
  await page
    .getByRole("dialog")
    .getByText(/^Expires/)
    .waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

inBrowser("a link that leads to another address than that of the page says so", async () => {
  await addNamed("Edith", "viewer");
  const local = beckon.url.replace("127.0.0.1", "localhost");
  const warning = `The link leads to ${beckon.url}, but you are at ${local}.`;
  const page = await openDashboard(local, { as: owner, path: `${path}?dialog=invite` });
  await page.getByLabel("E-mail").fill("edith@example.com");
  await page.getByRole("button", { name: "Make link" }).click();
  await page.getByText(warning).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Actions for Edith" }).click();
  await page.getByRole("menuitem", { name: "Make a reset link" }).click();
  await page.getByRole("button", { name: "Make link" }).click();
  await page.getByText(warning).waitFor();

  const same = await openDashboard(beckon.url, { as: owner, path: `${path}?dialog=invite` });
  await same.getByLabel("E-mail").fill("edith@example.com");
  await same.getByRole("button", { name: "Make link" }).click();
  await same.getByText(/\/invite#token=bki_/).waitFor();
  expect(await same.getByText("The link leads to").count()).toBe(0);
});

inBrowser("nobody can make a reset link for themselves", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  await page.getByRole("button", { name: "Actions for Ada" }).click();
  await page.getByRole("menuitem", { name: "Make a reset link", disabled: true }).waitFor();
  await page.getByText("Change your own password in the settings").waitFor();
});

inBrowser("a new link is shown although Escape was pressed before it had arrived", async () => {
  await addNamed("Joan", "viewer");
  const page = await openDashboard(beckon.url, { as: owner, path });
  const make = async (url: RegExp, link: RegExp) => {
    const held = await holdRequests(page, url, { method: "POST", isSent: true });
    await page.getByRole("button", { name: "Make link" }).click();
    await held.reached;
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Cancel", disabled: true }).waitFor();
    await held.release();
    await page.getByRole("dialog").getByText(link).waitFor();
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await page.getByRole("button", { name: "Actions for Joan" }).click();
  await page.getByRole("menuitem", { name: "Make a reset link" }).click();
  await make(/\/reset-link/, /\/reset#token=bkr_/);
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("E-mail").fill("joan@example.com");
  await make(/\/invitations$/, /\/invite#token=bki_/);
});

inBrowser("a link that is shown once stays if somebody takes the right to invite", async () => {
  const admin = await addPerson(beckon, { role: "admin" });
  const page = await openDashboard(beckon.url, { as: admin, path: `${path}?dialog=invite` });
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-mail").fill("jean@example.com");
  await dialog.getByRole("button", { name: "Make link" }).click();
  const link = dialog.getByText(/\/invite#token=bki_/);
  await link.waitFor();
  await beckon.call(`/members/${admin.id}`, { method: "PATCH", body: { role: "viewer" } });
  await announceChange(page, ["me"]);
  await page.locator("button[aria-disabled=true]", { hasText: "Invite" }).waitFor();
  expect(await link.count()).toBe(1);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await dialog.waitFor({ state: "detached" });
});

inBrowser("a viewer sees the members, changes nothing, and can leave", async () => {
  await addNamed(payload, "editor");
  const viewer = await addPerson(beckon, { role: "viewer" });
  const page = await openDashboard(beckon.url, { as: viewer, path });
  await page.getByRole("cell", { name: payload, exact: true }).waitFor();
  const invite = page.getByRole("button", { name: "Invite" });
  await expect.poll(() => invite.getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: "Actions for Ada" }).click();
  const items = page.getByRole("menuitem", { disabled: true });
  await page.getByText("This needs the role admin.").first().waitFor();
  await expect.poll(() => items.count()).toBe(3);
  await page.keyboard.press("Escape");
  await expectAccessible(page);
  await page.goto(`${beckon.url}${path}?dialog=invite`);
  await page.getByRole("cell", { name: payload, exact: true }).waitFor();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);

  await page.getByRole("row", { name: /You/ }).getByRole("button").click();
  await page.getByRole("menuitem", { name: "Leave workspace" }).click();
  await page.getByRole("button", { name: "Leave workspace" }).click();
  await page.waitForURL(`${beckon.url}/`);
});
