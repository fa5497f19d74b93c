import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";

/** Tests what happens to an open page when the session ends, for example because it expires. */

const beckon = await startTestBeckon();
const workspace = "/w/wsp_00000000000000000000000000";

type Person = Awaited<ReturnType<typeof addPerson>>;
const open = (path: string, as: Person) =>
  openDashboard(beckon.url, { as, path: workspace + path });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const signIn = (page: Page) => page.getByRole("dialog", { name: "Sign in again" });
const live = (page: Page) => page.getByTitle("Live", { exact: true });

/** Ends the session on the server. The page notices it when the server closes its stream. */
async function endSession(person: Person): Promise<void> {
  await person.call("/sign-out", { method: "POST" });
}

/** Fills in the sign-in over the page. */
async function signInAs(page: Page, { email, password }: Person): Promise<void> {
  await signIn(page).getByLabel("E-mail").fill(email);
  await signIn(page).getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
}

/** Returns all that a screen reader can read on the page. */
async function readable(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ name }) => name?.value)
    .join("\n");
}

inBrowser(
  "a form in a dialog keeps what was typed, and can be sent after the sign-in",
  async () => {
    const person = await addPerson(beckon, { role: "admin" });
    const page = await open("/keys?new=1", person);
    const name = page.getByLabel("Name", { exact: true });
    await page.getByRole("radio", { name: /^Observer/ }).click();
    await name.fill("Typed before");
    // The page can also learn from its stream that the session has ended, and the form is then
    // covered. So it is sent before.
    const held = await holdRequests(page, /\/api\/public\/keys$/, { method: "POST" });
    await button(page, "Create key").click();
    await held.reached;
    await endSession(person);
    await held.release();
    await signIn(page).waitFor();
    expect(await signIn(page).getByLabel("E-mail").inputValue()).toBe(person.email);
    await expectAccessible(page);
    await signIn(page).getByLabel("Password", { exact: true }).fill("wrong password");
    await page.keyboard.press("Enter");
    await signIn(page).getByText("The e-mail or the password is wrong.").waitFor();
    await signInAs(page, person);
    await signIn(page).waitFor({ state: "detached" });
    expect(await name.inputValue()).toBe("Typed before");
    await button(page, "Create key").click();
    await button(page, "I have stored it").click();
    await page.getByRole("row").filter({ hasText: "Typed before" }).waitFor();
  },
);

inBrowser(
  "an action that a dialog confirms asks for a sign-in, also without live updates",
  async () => {
    const person = await addPerson(beckon, { role: "admin" });
    await beckon.call("/keys", { body: { name: "Deleted later", preset: "observer" } });
    const page = await open("/keys", person);
    // Otherwise the page notices the end of its session by its stream.
    await page.addInitScript("delete globalThis.SharedWorker");
    const stream = await holdRequests(page, /\/api\/public\/events/);
    await page.reload();
    await stream.reached;
    await button(page, "More about Deleted later").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await endSession(person);
    await button(page, "Delete key").click();
    await signIn(page).waitFor();
    await signInAs(page, person);
    await signIn(page).waitFor({ state: "detached" });
    await button(page, "Delete key").click();
    await page.getByRole("row").filter({ hasText: "Deleted later" }).waitFor({ state: "detached" });
  },
);

inBrowser("a session that has ended is not taken for a wrong password", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const page = await open("/settings?tab=account", person);
  await page.getByLabel("Current password", { exact: true }).fill(person.password);
  await page.getByLabel("New password", { exact: true }).fill("another long password");
  const held = await holdRequests(page, /\/password$/);
  await button(page, "Change password").click();
  await held.reached;
  await endSession(person);
  await signIn(page).waitFor();
  const rejected = page.waitForResponse(/\/password$/);
  await held.release();
  expect((await rejected).status()).toBe(401);
  await renderFrames(page);
  expect(await page.getByText("This is not your current password.").count()).toBe(0);
});

inBrowser("nothing of the page can be read, reached or closed before the sign-in", async () => {
  const person = await addPerson(beckon, { role: "admin" });
  const page = await open("/keys?new=1", person);
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Typed before");
  expect(await readable(page)).toContain("Create key");
  await endSession(person);
  await signIn(page).getByLabel("Password", { exact: true }).and(page.locator(":focus")).waitFor();
  const read = await readable(page);
  expect(read).toContain("Sign in again");
  for (const hidden of ["Create key", "Typed before", "New key", "Overview"])
    expect(read).not.toContain(hidden);
  for (const key of ["Escape", "g", "r", "ControlOrMeta+K"]) await page.keyboard.press(key);
  for (let presses = 0; presses < 10; presses++) {
    await page.keyboard.press("Tab");
    const isOutside = "document.activeElement.matches('body, dialog *') === false";
    expect(await page.evaluate(isOutside)).toBe(false);
  }
  await page.mouse.click(5, 5);
  await signInAs(page, person);
  await signIn(page).waitFor({ state: "detached" });
  await name.and(page.locator(":focus")).waitFor();
  expect(await name.inputValue()).toBe("Typed before");
});

inBrowser("live updates return after the sign-in, also in other tabs", async () => {
  const person = await addPerson(beckon, { role: "editor" });
  const agent = await beckon.createAgent({ name: "Refund desk" });
  const page = await open("/runs", person);
  await live(page).waitFor();
  const other = await page.context().newPage();
  await other.goto(`${beckon.url}${workspace}/agents/new?from=blank`);
  await live(other).waitFor();
  await other.getByLabel("Name").fill("Typed before");
  await endSession(person);
  await signIn(page).waitFor();
  await signIn(other).waitFor();
  await signInAs(page, person);
  for (const each of [page, other]) {
    await signIn(each).waitFor({ state: "detached" });
    await live(each).waitFor();
  }
  expect(await other.getByLabel("Name").inputValue()).toBe("Typed before");
  await beckon.invoke(agent, "After the sign-in");
  await page.getByRole("row").filter({ hasText: "After the sign-in" }).waitFor();
});

inBrowser("a page shows nothing of a person after another one has signed in over it", async () => {
  const [person, other] = await Promise.all([
    addPerson(beckon, { role: "admin" }),
    addPerson(beckon, { role: "viewer" }),
  ]);
  const page = await open("/settings", person);
  await page.getByLabel("Name", { exact: true }).fill("Typed before");
  await endSession(person);
  await signIn(page).waitFor();
  await signInAs(page, other);
  await signIn(page).waitFor({ state: "detached" });
  await page.waitForURL(`${beckon.url}${workspace}/settings`);
  await page.getByText("This needs the role admin.").waitFor();
  await expect
    .poll(() => page.getByLabel("Name", { exact: true }).inputValue())
    .not.toBe("Typed before");
  expect(await page.content()).not.toContain(person.email);
});
