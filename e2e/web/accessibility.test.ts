import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { accessibilityFindings, rulesOfColours } from "./axe.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { fillDashboard } from "./filled-dashboard.ts";
import { type Screen, type ScreenState, screens } from "./screens.ts";
import { showScreen, statesOf } from "./show-screen.ts";
import { cookieFor, viewports } from "./viewports.ts";

/** Checks every screen at 1440 px. `script/soak` checks the other widths and combinations. */

const opened = new AsyncDisposableStack();
afterAll(() => opened.disposeAsync());
const beckon = await startTestBeckon({ BECKON_DRAIN_SECONDS: "0" });
const dashboard = await fillDashboard(
  { url: beckon.url, setupToken: await setupToken(beckon), database: beckon.db.database },
  { opened },
);

/**
 * Opens screen after screen in one page, and returns what axe-core finds, by screen. Normal screens
 * are checked in the dark theme as well.
 */
async function findingsOf(
  shown: readonly { readonly screen: Screen; readonly state: ScreenState }[],
): Promise<string[]> {
  const page = await openDashboard(dashboard.url, { path: "/sign-in" });
  const findings: string[] = [];
  for (const { screen, state } of shown) {
    if (screen.outside === true) await page.context().clearCookies();
    else await page.context().addCookies([cookieFor(dashboard.url, dashboard.owner.cookie)]);
    await page.setViewportSize(screen.onPhones === true ? viewports.narrow : viewports.desktop);
    try {
      await showScreen(page, screen, { of: dashboard, state });
      const found = await accessibilityFindings(page);
      findings.push(...found.map((finding) => `${screen.name}, ${state}: ${finding}`));
      if (state !== "normal") continue;
      await page.emulateMedia({ colorScheme: "dark" });
      const inDark = await accessibilityFindings(page, { rules: rulesOfColours });
      findings.push(...inDark.map((finding) => `${screen.name}, ${state}, dark: ${finding}`));
      await page.emulateMedia({ colorScheme: "light" });
    } catch (thrown) {
      findings.push(`${screen.name}, ${state}: ${thrown}`);
    }
  }
  return findings;
}

const all = screens.flatMap((screen) => statesOf(screen).map((state) => ({ screen, state })));

for (const [title, state] of [
  ["every screen is accessible in both themes", "normal"],
  ["dialogs are accessible", "dialog"],
  ["empty screens are accessible", "empty"],
  ["failing screens are accessible", "failing"],
] as const) {
  inBrowser(title, { timeout: 600_000 }, async () => {
    expect(await findingsOf(all.filter((each) => each.state === state))).toEqual([]);
  });
}

inBrowser("a screen that needs another role says so, accessibly", async () => {
  const path = `/w/${dashboard.owner.workspaceId}/keys`;
  const page = await openDashboard(dashboard.url, { as: dashboard.viewer, path });
  await page.getByText("Ask an owner").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
});
