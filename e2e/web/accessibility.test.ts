import { afterAll, expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { accessibilityFindings } from "./axe.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { fillDashboard } from "./filled-dashboard.ts";
import { type Screen, screens } from "./screens.ts";
import { type ScreenState, showScreen, statesOf } from "./show-screen.ts";
import { cookieFor } from "./viewports.ts";

/** Checks every screen at 1440 px. `script/soak` checks the other widths and combinations. */

const opened = new AsyncDisposableStack();
afterAll(() => opened.disposeAsync());
const beckon = await startTestBeckon({ BECKON_DRAIN_SECONDS: "0" });
const dashboard = await fillDashboard(
  { url: beckon.url, setupToken: await setupToken(beckon), database: beckon.db.database },
  { opened },
);

/**
 * The rules whose result depends on the theme. Names, roles and sizes are the same in both themes.
 */
const rulesOfColours = ["color-contrast", "link-in-text-block"];

/**
 * Opens screen after screen in one page, and returns what axe-core finds, by screen. With
 * `bothThemes`, each screen is checked in the dark theme as well.
 */
async function findingsOf(
  shown: readonly { readonly screen: Screen; readonly state: ScreenState }[],
  { bothThemes }: { readonly bothThemes: boolean },
): Promise<string[]> {
  const page = await openDashboard(dashboard.url, { path: "/sign-in" });
  const findings: string[] = [];
  for (const { screen, state } of shown) {
    if (screen.outside === true) await page.context().clearCookies();
    else await page.context().addCookies([cookieFor(dashboard.url, dashboard.owner.cookie)]);
    try {
      await showScreen(page, screen, { of: dashboard, state });
      const found = await accessibilityFindings(page);
      findings.push(...found.map((finding) => `${screen.name}, ${state}: ${finding}`));
      if (!bothThemes) continue;
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

const normal = screens.map((screen) => ({ screen, state: "normal" as const }));

inBrowser("every screen is accessible in both themes", { timeout: 300_000 }, async () => {
  expect(await findingsOf(normal, { bothThemes: true })).toEqual([]);
});

inBrowser(
  "empty and failing screens and dialogs are accessible",
  { timeout: 300_000 },
  async () => {
    const others = screens.flatMap((screen) =>
      statesOf(screen).map((state) => ({ screen, state })),
    );
    const found = await findingsOf(
      others.filter(({ state }) => state !== "normal"),
      { bothThemes: false },
    );
    expect(found).toEqual([]);
  },
);

inBrowser("a screen that needs another role says so, accessibly", async () => {
  const path = `/w/${dashboard.owner.workspaceId}/keys`;
  const page = await openDashboard(dashboard.url, { as: dashboard.viewer, path });
  await page.getByText("Ask an owner").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
});
