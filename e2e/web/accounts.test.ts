import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";

/** Tests setup, sign-in and invitations, from the link to the first page of a workspace. */

const beckon = await startTestBeckon();
const password = "correct horse battery staple";
const secret = { exact: true } as const;

inBrowser("the printed link makes the owner, signs in, and leaves no token behind", async () => {
  const token = await setupToken(beckon);
  const page = await openDashboard(beckon.url, { path: `/setup#token=${token}` });
  await page.getByLabel("Your name").waitFor();
  await page.waitForURL(`${beckon.url}/setup`);
  await expectAccessible(page);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password", secret).fill(password);
  await page.getByRole("button", { name: "Create owner" }).click();
  await page.waitForURL(/\/w\/wsp_\w+/);
  await page.getByTitle("Live", { exact: true }).waitFor();
});

inBrowser("a wrong password is said in plain words, and the right one opens the page", async () => {
  const path = "/sign-in?next=%2Fw%2Fwsp_00000000000000000000000000%2Fsomewhere";
  const page = await openDashboard(beckon.url, { path, viewport: viewports.narrow });
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password", secret).fill("not the password");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("The e-mail or the password is wrong.").waitFor();
  const field = page.getByLabel("Password", secret);
  expect(await field.inputValue()).toBe("");
  await field.fill(password);
  // At the limit of attempts, the form says so at once and does not send the password again.
  let attempts = 0;
  const tooMany = { ok: false, error: "Wait.", code: "too_many_requests" };
  await page.route("**/api/public/sign-in", (route) => {
    attempts += 1;
    return route.fulfill({ status: 429, headers: { "retry-after": "45" }, json: tooMany });
  });
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("too many failed attempts").waitFor();
  expect(attempts).toBe(1);
  await page.unroute("**/api/public/sign-in");
  // Another failure says nothing about the password, so it need not be typed again.
  const failure = { ok: false, error: "It failed.", code: "internal_error" };
  await page.route("**/api/public/sign-in", (route) =>
    route.fulfill({ status: 503, json: failure }),
  );
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("It failed.").waitFor();
  await page.unroute("**/api/public/sign-in");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/w\/wsp_0+\/somewhere$/);
});

inBrowser("an address of another site is not followed after the sign-in", async () => {
  const page = await openDashboard(beckon.url, { path: "/sign-in?next=//evil.example/w/a" });
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password", secret).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/w\/wsp_\w+$/);
  expect(new URL(page.url()).origin).toBe(beckon.url);
});

inBrowser("an invitation says who invited whom, and makes a member", async () => {
  const { body } = await beckon.call("/invitations", {
    body: { email: "grace@example.com", role: "viewer" },
  });
  const path = `/invite#token=${body.data.token}`;
  const page = await openDashboard(beckon.url, { path, theme: "dark", viewport: viewports.phone });
  await page.getByText("invited grace@example.com as viewer").waitFor();
  await page.getByLabel("Your name").fill("Grace");
  await page.getByLabel("Password", secret).fill(password);
  await page.getByRole("button", { name: "Join" }).click();
  await page.waitForURL(/\/w\/wsp_\w+$/);
});

inBrowser("a used link says so before anything is filled in", async () => {
  const page = await openDashboard(beckon.url, { path: "/invite#token=bki_used" });
  await page.getByRole("heading", { name: "This link is no longer valid" }).waitFor();
  await expect.poll(() => page.getByRole("textbox").count()).toBe(0);
});

/** Signs Ada in by the form, and returns the page. */
async function openSignedIn() {
  const page = await openDashboard(beckon.url, { path: "/sign-in" });
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password", secret).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/w\//);
  return page;
}

inBrowser("a sign-out in one tab ends all tabs", async () => {
  const first = await openSignedIn();
  const second = await first.context().newPage();
  await second.goto(beckon.url);
  await second.getByTitle("Live", { exact: true }).waitFor();
  await second.getByRole("button", { name: "Account of Ada" }).click();
  await second.getByRole("menuitem", { name: "Sign out" }).click();
  await second.waitForURL(/\/sign-in$/);
  await first.waitForURL(/\/sign-in$/);
});

inBrowser("messages of a session are gone after the sign-out", async () => {
  const page = await openSignedIn();
  const { id } = await beckon.createAgent({ name: "Payroll" });
  await page.goto(`${page.url()}/agents/${id}/connect`);
  await page.getByRole("button", { name: "More about this agent" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete agent" }).click();
  const undo = page.getByRole("button", { name: "Undo" });
  await undo.waitFor();
  await page.getByRole("button", { name: "Account of Ada" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByLabel("E-mail").waitFor();
  expect(await undo.count()).toBe(0);
});

inBrowser("a sign-out asks before it discards unsaved changes, except in other tabs", async () => {
  const first = await openSignedIn();
  const second = await first.context().newPage();
  for (const page of [first, second]) {
    await page.goto(`${first.url().replace(/\/settings$/, "")}/settings`);
    await page.getByLabel("Name", { exact: true }).fill("Not saved");
    await page.getByText("Unsaved: Name").waitFor();
  }
  await second.getByRole("button", { name: "Account of Ada" }).click();
  await second.getByRole("menuitem", { name: "Sign out" }).click();
  const question = second.getByRole("alertdialog", { name: /^Sign out and discard/ });
  await question.getByRole("button", { name: "Sign out" }).click();
  await second.waitForURL(/\/sign-in$/);
  await first.waitForURL(/\/sign-in$/);
});
