import { join, resolve } from "node:path";
import { launchBrowser, openProfile } from "../../server/test/chromium.ts";
import { startStandaloneBeckon } from "../../server/test/standalone-beckon.ts";
import { openSettled } from "./show-screen.ts";
import { fillShowcase } from "./showcase.ts";
import { cookieFor, profileOptions } from "./viewports.ts";

/** Folder of the README's pictures. `script/screens --readme` executes this file. */
const folder = resolve(import.meta.dirname, "../../docs/pictures");

// `finally` disposes of this stack. `await using` would be shorter, but dependency-cruiser, which
// reads e2e/, cannot parse it.
const opened = new AsyncDisposableStack();
try {
  const beckon = await startStandaloneBeckon(opened);
  const { owner, agentId, runId } = await fillShowcase(beckon, opened);
  const browser = await launchBrowser();
  opened.defer(() => browser.close());
  const { context } = await openProfile(browser, beckon.url, {
    ...profileOptions,
    colorScheme: "light",
  });
  await context.addCookies([cookieFor(beckon.url, owner.cookie)]);
  const page = await context.newPage();
  const show = (path: string) => openSettled(page, `${beckon.url}/w/${owner.workspaceId}${path}`);
  const take = (name: string) => page.screenshot({ path: join(folder, `${name}.png`) });

  await show("");
  await take("overview");
  await show(`/runs/${runId}`);
  await take("run");
  await show(`/agents/${agentId}/playground`);
  await page
    .getByRole("textbox", { name: "Message", exact: true })
    .fill("Order 4711 arrived broken. I would like my money back.");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Succeeded").waitFor();
  await take("playground");
} finally {
  await opened.disposeAsync();
}
