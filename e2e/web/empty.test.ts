import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { apiOf } from "./api.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const empty = await apiOf(beckon.url, owner)("/workspaces", { name: "Empty" });

const other = await apiOf(beckon.url, owner)("/workspaces", { name: "With an agent" });
const agent = await apiOf(beckon.url, owner)(
  "/agents",
  { name: "Orders", model: "demo/echo" },
  { workspace: other.id },
);

const screens = [
  { path: "", teaches: /^An agent is a model/, action: "New agent", call: "/agents" },
  { path: "/agents", teaches: /^An agent is a model/, action: "New agent", call: "/agents" },
  { path: "/keys", teaches: /^A key lets/, action: "New key", call: "/agents/AGENT_ID/invoke" },
  { path: "/providers", teaches: /^A provider is/, action: "Add provider", call: "/providers" },
  {
    title: "the screen of triggers",
    workspace: other.id,
    path: `/agents/${agent.id}/triggers`,
    teaches: /^A trigger is/,
    action: "New trigger",
    call: `/agents/${agent.id}/triggers`,
  },
];

for (const { path, teaches, action, call, workspace = empty.id, title } of screens)
  inBrowser(
    `${title ?? `/${path.slice(1)}`} without content teaches what it is, with one action and a call`,
    async () => {
      const page = await openDashboard(beckon.url, { as: owner, path: `/w/${workspace}${path}` });
      const main = page.getByRole("main");
      await main.getByText(teaches).waitFor();
      const actions = main
        .getByRole("button", { name: action })
        .or(main.getByRole("link", { name: action }));
      await expect.poll(() => actions.count()).toBe(1);
      const command = await main.getByRole("region", { name: "curl command" }).textContent();
      expect(command).toContain(`curl "${beckon.url}/api/public${call}"`);
      expect(command).toContain("$BECKON_KEY");
      if (path !== "/keys") {
        const keys = main.getByRole("link", { name: "an API key", exact: true });
        expect(await keys.getAttribute("href")).toBe(`/w/${workspace}/keys`);
      }
      // The confirmation is shown for two seconds only.
      const copied = main.getByRole("status").getByText("Copied", { exact: true }).waitFor();
      await main.getByRole("button", { name: "Copy curl command" }).click();
      await copied;
    },
  );

inBrowser("the first call of an empty overview is not wider than a phone", async () => {
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${empty.id}`,
    viewport: viewports.phone,
  });
  await page.getByRole("region", { name: "curl command" }).waitFor();
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollWidth"))
    .toBe(viewports.phone.width);
});
