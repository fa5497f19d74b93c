import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner, signIn } from "./accounts.ts";
import { announceChange } from "./announce-change.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests } from "./hold-requests.ts";
import { reloadWithStream } from "./live-stream.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const path = `/w/${owner.workspaceId}/settings`;
const account = `${path}?tab=account`;

inBrowser("name and time zone of the workspace are saved, and other tabs see them", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const other = await page.context().newPage();
  await other.goto(`${beckon.url}${path}`);
  await other.getByLabel("Name", { exact: true }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("<b>Support</b>");
  await page.getByRole("button", { name: /^Time zone/ }).click();
  await page.getByPlaceholder("Type to search").fill("zurich");
  await page.getByRole("option", { name: "Europe/Zurich" }).click();
  await page.getByText(/Now \d\d:\d\d, UTC\+[12]\./).waitFor();
  await page.getByText("months of the plan, start at midnight there. Limits change at").waitFor();
  await page.getByText("Unsaved: Name, Time zone").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await other.getByRole("button", { name: "Workspace <b>Support</b>" }).waitFor();
  await other.getByRole("button", { name: "Time zone: Europe/Zurich" }).waitFor();
});

inBrowser("discarding restores the saved name, of the workspace and of the person", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  for (const [where, label] of [
    [path, "Name"],
    [account, "Your name"],
  ] as const) {
    await page.goto(beckon.url + where);
    const name = page.getByLabel(label, { exact: true });
    const save = page.getByRole("button", { name: "Save", exact: true });
    await save.and(page.locator(":disabled")).waitFor();
    const saved = await name.inputValue();
    await name.fill("Not saved");
    await page.getByText(`Unsaved: ${label}`).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await expect.poll(() => name.inputValue()).toBe(saved);
    await page.getByText(`Unsaved: ${label}`).waitFor({ state: "detached" });
    await save.and(page.locator(":disabled")).waitFor();
  }
});

inBrowser("a phone that says that updates are not live covers no button", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const { send } = await reloadWithStream(page);
  await send([{ type: "status", status: { state: "not live" } }]);
  // The keyboard takes much of the height, so that the end of the form is not in sight.
  await page.setViewportSize({ ...viewports.narrow, height: 420 });
  await page.getByRole("status").getByText("Not live").filter({ visible: true }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("On a phone");
  // Playwright would scroll to press a button that is covered, so this presses what is there.
  const { x = 0, y = 0 } = (await page.getByRole("button", { name: "Save" }).boundingBox()) ?? {};
  await page.mouse.click(x + 8, y + 8);
  await page.getByText("Saved", { exact: true }).waitFor();
});

inBrowser("what is typed while the workspace is being saved is kept", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const held = await holdRequests(page, `**/workspaces/${owner.workspaceId}`, { method: "PATCH" });
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Sent");
  await page.getByRole("button", { name: "Save" }).click();
  await held.reached;
  await name.fill("Typed later");
  await held.release();
  await page.getByRole("button", { name: "Workspace Sent" }).waitFor();
  await page.getByText("Unsaved: Name").waitFor();
  await expect.poll(() => name.inputValue()).toBe("Typed later");
});

inBrowser("a name that was saved here follows the one that another tab saves later", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const other = await page.context().newPage();
  for (const [where, label, owned] of [
    [path, "Name", "Workspace"],
    [account, "Your name", "Account of"],
  ] as const) {
    const save = async (tab: typeof page, text: string) => {
      await tab.getByLabel(label, { exact: true }).fill(text);
      await tab.getByRole("button", { name: "Save", exact: true }).click();
      await tab.getByText("Saved", { exact: true }).waitFor();
    };
    for (const tab of [page, other]) await tab.goto(beckon.url + where);
    await save(page, " From here ");
    await other.getByRole("button", { name: `${owned} From here` }).waitFor();
    await save(other, "From there");
    const name = page.getByLabel(label, { exact: true });
    await expect.poll(() => name.inputValue()).toBe("From there");
  }
});

inBrowser(
  "what is typed while one's own name is being saved is kept and can be saved",
  async () => {
    const page = await openDashboard(beckon.url, { as: owner, path: account });
    const held = await holdRequests(page, "**/api/public/me", { method: "PATCH" });
    const name = page.getByLabel("Your name");
    await name.fill("Ada L");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await held.reached;
    await name.fill("Ada Lovelace");
    await held.release();
    await page.getByRole("button", { name: "Account of Ada L" }).waitFor();
    await page.getByText("Unsaved: Your name").waitFor();
    expect(await name.inputValue()).toBe("Ada Lovelace");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Account of Ada Lovelace" }).waitFor();
  },
);

inBrowser("how long runs are kept is chosen within the operator's bound", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const days = page.getByLabel("Keep runs for");
  await page.getByText("7 to 30 days. Leave it empty for 30").waitFor();
  await days.fill("31");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Use 30 or less.").waitFor();
  await days.clear();
  await days.pressSequentially("1e");
  await page.getByText("Use a number.").waitFor();
  await days.fill("7");
  await page.getByText("Unsaved: Keep runs for").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  // A shorter time deletes runs. A longer one, further down, is saved without a question.
  const question = page.getByRole("alertdialog", { name: "Keep runs for 7 days?" });
  await question.getByText("Runs that ended more than 7 days ago are deleted").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Unsaved: Keep runs for").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Delete older runs" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.reload();
  await expect.poll(() => days.inputValue()).toBe("7");
  await days.fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
});

inBrowser("what somebody saves while a shorter time is confirmed is not reverted", async () => {
  const workspace = `/workspaces/${owner.workspaceId}`;
  const change = (body: object) => beckon.call(workspace, { method: "PATCH", body });
  await change({ name: "Before", time_zone: "UTC", run_retention_days: 30 });
  const page = await openDashboard(beckon.url, { as: owner, path });
  await page.getByLabel("Keep runs for").fill("7");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alertdialog", { name: "Keep runs for 7 days?" }).waitFor();
  const theirs = { name: "Theirs", time_zone: "Asia/Tokyo" };
  await change(theirs);
  await announceChange(page, [owner.workspaceId, "workspace"]);
  const name = page.getByLabel("Name", { exact: true });
  await expect.poll(() => name.inputValue()).toBe("Theirs");
  await page.getByRole("button", { name: "Delete older runs" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const { data } = (await beckon.call(workspace)).body;
  expect(data).toMatchObject({ ...theirs, run_retention_days: 7 });
  await change({ run_retention_days: null });
});

inBrowser("a workspace is renamed although its operator keeps runs for less time", async () => {
  const workspace = `/workspaces/${owner.workspaceId}`;
  await beckon.call(workspace, { method: "PATCH", body: { run_retention_days: 30 } });
  for (const operatorDays of ["5", "20"]) {
    const other = await beckon.another({ settings: { BECKON_RETENTION_RUNS_DAYS: operatorDays } });
    const page = await openDashboard(other.url, { as: owner, path });
    await page.getByLabel("Name", { exact: true }).fill(`Keeps ${operatorDays} days`);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    const days = page.getByLabel("Keep runs for");
    expect(await days.inputValue()).toBe(operatorDays === "5" ? "5" : "30");
    await page.context().close();
    await other.stop();
  }
  const { data } = (await beckon.call(workspace)).body;
  expect(data).toMatchObject({ name: "Keeps 20 days", run_retention_days: 30 });
  await beckon.call(workspace, { method: "PATCH", body: { run_retention_days: null } });
});

inBrowser(
  "a blank name is not sent, and unsaved changes are not left without a question",
  async () => {
    const page = await openDashboard(beckon.url, { as: owner, path });
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("   ");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Must not be blank.").waitFor();
    await expect.poll(() => name.getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("link", { name: "Your account" }).click();
    await page.getByRole("heading", { name: "Leave without saving?" }).waitFor();
    await page.getByRole("button", { name: "Discard changes" }).click();
    await page.getByLabel("Your name").waitFor();
  },
);

inBrowser("an owner of the installation creates a workspace and is in it", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path });
  const { reset } = await reloadWithStream(page);
  await page.setViewportSize(viewports.phone);
  await reset();
  const notice = page.getByText("The database was restored.");
  await notice.waitFor();
  await page.getByRole("button", { name: "New workspace" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create workspace" }).click();
  await dialog.getByText("Fill this in.").waitFor();
  await dialog.getByLabel("Name").fill("Research");
  await dialog.getByRole("button", { name: "Create workspace" }).click();
  await page.waitForURL(
    (url) =>
      /^\/w\/wsp_\w+\/settings$/.test(url.pathname) && !url.pathname.includes(owner.workspaceId),
  );
  await dialog.waitFor({ state: "detached" });
  const name = page.getByLabel("Name", { exact: true });
  await expect.poll(() => name.inputValue()).toBe("Research");
  // The notice is about the data of the other workspace.
  expect(await notice.count()).toBe(0);
});

inBrowser("one's own name is changed", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: account });
  const name = page.getByLabel("Your name");
  await name.fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Fill this in.").waitFor();
  await name.fill("Ada <i>Lovelace</i>");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Account of Ada <i>Lovelace</i>" }).waitFor();
  await expectAccessible(page);
});

inBrowser("sessions are listed, and one or all others are signed out", async () => {
  await signIn(beckon.url, owner);
  await signIn(beckon.url, owner);
  const page = await openDashboard(beckon.url, { as: owner, path: account });
  const rows = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
  await rows.filter({ hasText: "This session" }).filter({ hasText: "in use now" }).waitFor();
  const before = await rows.count();
  await page.getByRole("button", { name: "Sign out Node.js" }).first().click();
  await expect.poll(() => rows.count()).toBe(before - 1);
  await page.getByRole("button", { name: "Sign out all others" }).click();
  await page.getByRole("button", { name: "Sign out others" }).click();
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByLabel("Your name").fill("Not saved");
  await page.getByRole("button", { name: "Sign out this session" }).click();
  await page.getByRole("alertdialog", { name: /^Sign out and discard/ }).waitFor();
});

inBrowser("the password is changed with the current one only", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const page = await openDashboard(beckon.url, { as: person, path: account });
  const current = page.getByLabel("Current password");
  const change = page.getByRole("button", { name: "Change password" });
  await current.fill("not the password");
  await page.getByLabel("New password").fill("short");
  await change.click();
  await page.getByText("Use at least 12 characters.").waitFor();
  await page.getByLabel("New password").fill("staple battery horse correct");
  await change.click();
  await page.getByText("This is not your current password.").waitFor();
  await current.fill(person.password);
  await change.click();
  await page.getByText("Password changed.", { exact: false }).first().waitFor();
  await expect.poll(() => current.inputValue()).toBe("");
  await page.reload();
  await page.getByLabel("Your name").waitFor();
});

inBrowser("the theme and single keys are remembered in the browser", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: account });
  await page.getByRole("radio", { name: "Dark" }).check();
  await page.locator("html[data-theme=dark]").waitFor();
  await page.getByRole("switch", { name: "Single-key shortcuts" }).uncheck();
  await page.reload();
  await page.getByRole("radio", { name: "Dark", checked: true }).waitFor();
  await page.getByRole("switch", { name: "Single-key shortcuts", checked: false }).waitFor();
});

inBrowser("single keys are text in fields, and do nothing when they are switched off", async () => {
  const page = await openDashboard(beckon.url, { as: owner, path: account });
  const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  const palette = page.getByRole("dialog", { name: "Find, go and act" });
  /** Presses all single keys, then one with a modifier, which the page handles after them. */
  const pressAll = async () => {
    for (const key of ["?", "/", "j", "k", "g", "r"]) await page.keyboard.press(key);
    await page.keyboard.press("Control+K");
    await palette.waitFor();
    expect(await keys.count()).toBe(0);
    expect(page.url()).toBe(beckon.url + account);
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
  };
  const name = page.getByLabel("Your name");
  await name.fill("");
  await pressAll();
  expect(await name.inputValue()).toBe("?/jkgr");

  const shortcuts = page.getByRole("switch", { name: "Single-key shortcuts" });
  await page.getByRole("button", { name: "Discard" }).click();
  await shortcuts.uncheck();
  // Leaves the switch, because the keys would do nothing in a field anyway.
  await page.evaluate("document.activeElement.blur()");
  await pressAll();
  await shortcuts.check();
  await page.evaluate("document.activeElement.blur()");
  await page.keyboard.press("?");
  await keys.waitFor();
});

inBrowser("a viewer sees the workspace and cannot change it", async () => {
  const viewer = await addPerson(beckon, { role: "viewer" });
  const page = await openDashboard(beckon.url, { as: viewer, path, viewport: viewports.narrow });
  await page.getByText("This needs the role admin.").waitFor();
  await expect.poll(() => page.getByLabel("Name", { exact: true }).isDisabled()).toBe(true);
  await expect.poll(() => page.getByRole("button", { name: /Save|New workspace/ }).count()).toBe(0);
  await expectAccessible(page);
});
