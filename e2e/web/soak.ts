import { launchBrowser, openProfile } from "../../server/test/chromium.ts";
import { startStandaloneBeckon } from "../../server/test/standalone-beckon.ts";
import { apiOf } from "./api.ts";
import { accessibilityFindings } from "./axe.ts";
import { fillDashboard } from "./filled-dashboard.ts";
import {
  addHostile,
  hostileLists,
  injectedElements,
  manyPayloads,
  startHostileServers,
} from "./hostile-workspace.ts";
import { screens } from "./screens.ts";
import { openSettled, showScreen, statesOf } from "./show-screen.ts";
import { cookieFor, profileOptions, themes, viewports } from "./viewports.ts";

/**
 * Checks every screen with axe-core, in all its states, both themes, at 360 and 1440 px, and shows
 * 100 hostile texts in every kind of field.
 *
 * @returns whether nothing was found
 */
export async function checkDashboard(log: (line: string) => void): Promise<boolean> {
  const opened = new AsyncDisposableStack();
  try {
    return await findNothing(opened, log);
  } finally {
    await opened.disposeAsync();
  }
}

async function findNothing(
  opened: AsyncDisposableStack,
  log: (line: string) => void,
): Promise<boolean> {
  const beckon = await startStandaloneBeckon(opened);
  const dashboard = await fillDashboard(beckon, { opened });
  const { url, owner } = dashboard;
  const session = cookieFor(url, owner.cookie);
  const browser = await launchBrowser();
  opened.defer(() => browser.close());
  const findings: string[] = [];
  let logged = 0;
  /**
   * Logs what was found since the last call, so that it is shown even if a later screen fails. Of
   * all findings, only the first 50 are logged; the last line says how many there are.
   */
  const logFindings = () => {
    for (const finding of findings.slice(logged, 50)) log(`✗ ${finding}`);
    logged = findings.length;
  };
  let shown = 0;
  for (const colorScheme of themes) {
    for (const viewport of [viewports.narrow, viewports.desktop]) {
      const look = `${colorScheme}, ${viewport.width} px`;
      const options = { ...profileOptions, colorScheme, viewport };
      const { context, faults } = await openProfile(browser, url, options);
      const page = await context.newPage();
      for (const screen of screens) {
        if (screen.outside === true) await context.clearCookies();
        else await context.addCookies([session]);
        for (const state of statesOf(screen)) {
          shown++;
          const found = await showScreen(page, screen, { of: dashboard, state }).then(
            () => accessibilityFindings(page),
            (thrown) => [String(thrown)],
          );
          findings.push(...found.map((each) => `${screen.name}, ${state}, ${look}: ${each}`));
        }
      }
      findings.push(...faults.map((fault) => `${look}: ${fault}`));
      logFindings();
      await context.close();
    }
  }

  const { context, faults } = await openProfile(browser, url, profileOptions);
  await context.addCookies([session]);
  const page = await context.newPage();
  const show = async (path: string) => {
    await openSettled(page, `${url}/w/${owner.workspaceId}${path}`);
    const injected = await page.evaluate<string[]>(injectedElements);
    findings.push(...injected.map((html) => `${path} has ${html}`));
  };
  const api = apiOf(url, owner);
  const servers = await startHostileServers(opened);
  for (const [number, payload] of manyPayloads.entries()) {
    for (const path of await addHostile(api, { payload, number, servers })) await show(path);
  }
  for (const path of hostileLists) await show(path);
  findings.push(...faults);
  logFindings();
  log(
    `dashboard: ${shown} screens and ${manyPayloads.length} hostile texts shown, ` +
      `${findings.length} findings`,
  );
  return findings.length === 0;
}
