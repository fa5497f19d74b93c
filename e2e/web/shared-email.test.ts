import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { defaultWorkspaceId } from "../../web/src/data/default-workspace.ts";
import { expectAccessible } from "./accessibility.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/** Tests the sign-in of people whose e-mail other accounts use, too. */

const beckon = await startTestBeckon();
const password = "correct horse battery staple";
const secret = { exact: true } as const;
const email = "shared@example.com";

/**
 * A workspace of which an account with this e-mail is a member. A sign-in without a workspace
 * compares the password with those of the first four accounts only, so it never finds the last.
 */
interface Workspace {
  readonly id: string;
  readonly key: string;
  readonly userId: string;
}

async function join(given: string): Promise<Workspace> {
  const { id, key } = (await beckon.call("/workspaces", { body: { name: "Test" } })).body.data;
  const invitation = { email, role: "viewer" };
  const invited = await beckon.call("/invitations", { credential: key, body: invitation });
  const joined = await beckon.call("/invitations/accept", {
    credential: null,
    body: { token: invited.body.data.token, name: "Test", password: given },
  });
  return { id, key, userId: joined.body.data.id };
}

for (let index = 0; index < 4; index++) await join(`${password} ${index}`);
const last = await join(password);

inBrowser("the sign-in names the workspace of the page that it leads back to", async () => {
  const next = encodeURIComponent(`/w/${last.id}/runs`);
  const page = await openDashboard(beckon.url, { path: `/sign-in?next=${next}` });
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", secret).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${beckon.url}/w/${last.id}/runs`);
});

inBrowser("after a failed sign-in a workspace can be named", async () => {
  const page = await openDashboard(beckon.url, { path: "/sign-in" });
  const workspace = page.getByLabel("Workspace id");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", secret).fill(password);
  expect(await workspace.count()).toBe(0);
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("The e-mail or the password is wrong.").waitFor();
  await workspace.fill(` ${last.id} `);
  await expectAccessible(page);
  await page.getByLabel("Password", secret).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${beckon.url}/w/${last.id}`);
});

inBrowser("the page's workspace does not keep people out who are not its members", async () => {
  const next = encodeURIComponent(`/w/${last.id}`);
  const page = await openDashboard(beckon.url, { path: `/sign-in?next=${next}` });
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", secret).fill(`${password} 0`);
  const signedIn = page.waitForResponse(
    (response) => response.url().endsWith("/sign-in") && response.ok(),
  );
  await page.keyboard.press("Enter");
  await signedIn;
});

inBrowser("the setup link signs in the owner whom it creates", async () => {
  const page = await openDashboard(beckon.url, {
    path: `/setup#token=${await setupToken(beckon)}`,
  });
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", secret).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/w/${defaultWorkspaceId}`));
});

inBrowser("a reset link signs in the person whose password it sets", async () => {
  const link = await beckon.call(`/members/${last.userId}/reset-link`, {
    method: "POST",
    credential: last.key,
  });
  const page = await openDashboard(beckon.url, { path: `/reset#token=${link.body.data.token}` });
  await page.getByLabel("New password").fill(password);
  await page.getByRole("button", { name: "Set password" }).click();
  await page.waitForURL(`${beckon.url}/w/${last.id}`);
});
