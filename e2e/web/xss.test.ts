import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { apiOf } from "./api.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import {
  addHostile,
  hostileLists,
  injectedElements,
  startHostileServers,
  strongPayloads,
} from "./hostile-workspace.ts";
import { openSettled } from "./show-screen.ts";

/**
 * Tests that texts from users, models and tools are shown as text. `openBrowserPage` fails a test
 * if a payload runs its script, sends a request or violates the Content-Security-Policy.
 */

const opened = new AsyncDisposableStack();
afterAll(() => opened.disposeAsync());
const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const api = apiOf(beckon.url, owner);
const servers = await startHostileServers(opened);
const paths = new Set(hostileLists);
for (const [number, payload] of strongPayloads.entries())
  for (const path of await addHostile(api, { payload, number, servers })) paths.add(path);

inBrowser("no page takes a text for markup", { timeout: 300_000 }, async () => {
  const page = await openDashboard(beckon.url, { as: owner });
  for (const path of paths) {
    await openSettled(page, `${beckon.url}/w/${owner.workspaceId}${path}`);
    expect([path, await page.evaluate(injectedElements)]).toEqual([path, []]);
  }
});
