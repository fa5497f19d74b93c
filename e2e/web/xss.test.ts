import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { apiOf } from "./api.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import {
  addHostile,
  hostileLists,
  injectedInto,
  injectedIntoPalette,
  startHostileServers,
  strongPayloads,
} from "./hostile-workspace.ts";

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
const paths = new Set(hostileLists(owner.workspaceId));
for (const [number, payload] of strongPayloads.entries()) {
  const added = await addHostile(api, { owner, payload, number, servers });
  for (const path of added.paths) paths.add(path);
}

inBrowser("no page takes a text for markup", async () => {
  const page = await openDashboard(beckon.url, { as: owner });
  for (const path of paths)
    expect([path, await injectedInto(page, beckon.url + path)]).toEqual([path, []]);
  const overview = `${beckon.url}/w/${owner.workspaceId}`;
  expect(await injectedIntoPalette(page, overview, strongPayloads)).toEqual([]);
});

inBrowser("an invitation takes no name for markup, also if nobody is signed in", async () => {
  const page = await openDashboard(beckon.url, { path: "/sign-in" });
  const invitations = [...paths].filter((path) => path.startsWith("/invite"));
  for (const path of invitations) expect(await injectedInto(page, beckon.url + path)).toEqual([]);
});
