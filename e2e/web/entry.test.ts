import { startTestBeckon } from "../../server/test/beckon.ts";
import { removeFiles } from "../../server/test/chromium.ts";
import { setupToken } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner, signIn } from "./accounts.ts";
import { inBrowser, openDashboard, themes } from "./dashboard.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));

inBrowser.each(themes)("without a session, / leads to sign-in, %s", async (theme) => {
  const page = await openDashboard(beckon.url, { theme });
  await page.waitForURL(/\/sign-in$/);
  await page.getByLabel("E-mail").waitFor();
  await page.getByText("each start of Beckon prints a link for the first one").waitFor();
  await page.getByText("The only owner of the workspace “default” makes it").waitFor();
  await expectAccessible(page);
});

inBrowser("with a session, / leads to the workspace", async () => {
  const page = await openDashboard(beckon.url, { as: await signIn(beckon.url, owner) });
  await page.waitForURL(`${beckon.url}/w/${owner.workspaceId}`);
  await page.getByRole("navigation").first().waitFor();
});

inBrowser("Retry loads the page whose first request failed", async () => {
  const path = `/w/${owner.workspaceId}/keys`;
  const page = await openDashboard(beckon.url, { as: owner, path });
  const restore = await removeFiles(page.context(), /\/me\b/);
  await page.reload();
  await page.getByText("This page cannot be shown").waitFor();
  await restore();
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
});
