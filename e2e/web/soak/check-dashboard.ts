import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchBrowser, openProfile } from "../../../server/test/chromium.ts";
import { startStandaloneBeckon } from "../../../server/test/standalone-beckon.ts";
import { apiOf } from "../api.ts";
import { accessibilityFindings } from "../axe.ts";
import { type FilledDashboard, fillDashboard } from "../filled-dashboard.ts";
import {
  addHostile,
  hostileLists,
  injectedInto,
  injectedIntoPalette,
  manyPayloads,
  startHostileServers,
} from "../hostile-workspace.ts";
import { type Screen, type ScreenState, screens } from "../screens.ts";
import { showScreen, statesOf } from "../show-screen.ts";
import { cookieFor, profileOptions, themes, viewports } from "../viewports.ts";
import { forcedColourFindings } from "./forced-colours.ts";
import { lineFindings, overflowFindings } from "./widths.ts";

/** What is checked of each screen, in one theme and at one width. */
interface Look {
  readonly name: string;
  readonly options: BrowserContextOptions;
  readonly check: (page: Page) => Promise<string[]>;
  /** The states in which the screens are checked; default: all. */
  readonly states?: readonly SoakState[];
}

/** `forbidden`: the screen as a viewer sees it, who can change nothing. */
type SoakState = ScreenState | "forbidden";

const { narrow, tablet, desktop, wide, ultraWide } = viewports;

function allLooks(): Look[] {
  const seen = new Set<string>();
  return [
    ...themes.flatMap((colorScheme) =>
      [narrow, tablet, desktop].map((viewport) => ({
        name: `${colorScheme}, ${viewport.width} px`,
        options: { colorScheme, viewport },
        check: async (page: Page) => [
          ...(await accessibilityFindings(page)),
          ...(await overflowFindings(page)),
        ],
      })),
    ),
    ...[wide, ultraWide].map((viewport) => ({
      name: `${viewport.width} px`,
      options: { viewport },
      check: async (page: Page) => [
        ...(await overflowFindings(page)),
        ...(await lineFindings(page)),
      ],
      states: ["normal", "dialog", "forbidden"] as const,
    })),
    {
      name: "forced colours",
      options: { forcedColors: "active", viewport: desktop },
      check: (page: Page) => forcedColourFindings(page, seen),
      states: ["normal", "dialog"] as const,
    },
  ];
}

/**
 * Checks every screen in all its states: with axe-core in both themes at 360, 768 and 1440 px, its
 * widths at 2560 and 3840 px, and with forced colours. Then shows 100 hostile texts in every kind
 * of field.
 *
 * @returns whether nothing was found
 */
export async function checkDashboard(log: (line: string) => void): Promise<boolean> {
  let found = 0;
  /**
   * Logs findings at once, so that they are shown even if a later screen fails. Of all findings,
   * only the first 50 are logged; the last line says how many there are.
   */
  const report = (findings: readonly string[]) => {
    for (const finding of findings.slice(0, Math.max(0, 50 - found))) log(`✗ ${finding}`);
    found += findings.length;
  };
  let shown = 0;
  // Each look has an installation of its own, because the run that waits for its model ends after
  // ten minutes.
  for (const look of allLooks())
    await withDashboard(async (browser, dashboard) => {
      shown += await showAll(browser, dashboard, { look, report });
    });
  await withDashboard((browser, dashboard, opened) =>
    showHostile(browser, dashboard, { opened, report }),
  );
  log(
    `dashboard: ${shown} screens and ${manyPayloads.length} hostile texts shown, ` +
      `${found} findings`,
  );
  return found === 0;
}

/** Starts Beckon and a browser for the duration of `use`. */
async function withDashboard(
  use: (
    browser: Browser,
    dashboard: FilledDashboard,
    opened: AsyncDisposableStack,
  ) => Promise<void>,
): Promise<void> {
  const opened = new AsyncDisposableStack();
  try {
    const beckon = await startStandaloneBeckon(opened);
    const dashboard = await fillDashboard(beckon, { opened });
    const browser = await launchBrowser();
    opened.defer(() => browser.close());
    await use(browser, dashboard, opened);
  } finally {
    await opened.disposeAsync();
  }
}

type Report = (findings: readonly string[]) => void;

/** Shows all screens in one look. Returns how many were shown. */
async function showAll(
  browser: Browser,
  dashboard: FilledDashboard,
  { look, report }: { readonly look: Look; readonly report: Report },
): Promise<number> {
  const { url, owner, viewer } = dashboard;
  const options = { ...profileOptions, ...look.options };
  const { context, faults } = await openProfile(browser, url, options);
  const page = await context.newPage();
  let shown = 0;
  for (const screen of screensIn(look)) {
    for (const state of soakStatesOf(screen)) {
      if (look.states?.includes(state) === false) continue;
      shown++;
      if (screen.outside === true) await context.clearCookies();
      else
        await context.addCookies([
          cookieFor(url, state === "forbidden" ? viewer.cookie : owner.cookie),
        ]);
      const findings = await showScreen(page, screen, {
        of: dashboard,
        state: state === "forbidden" ? "normal" : state,
      }).then(
        () => look.check(page),
        (thrown) => [String(thrown)],
      );
      report(findings.map((each) => `${screen.name}, ${state}, ${look.name}: ${each}`));
    }
  }
  report(faults.map((fault) => `${look.name}: ${fault}`));
  await context.close();
  return shown;
}

const screensIn = ({ options }: Look) =>
  screens.filter(({ onPhones }) => onPhones !== true || options.viewport === narrow);

const soakStatesOf = (screen: Screen): readonly SoakState[] =>
  screen.outside === true || screen.only === "dialog"
    ? statesOf(screen)
    : [...statesOf(screen), "forbidden"];

/** Writes 100 hostile texts into every kind of field, and opens the pages that show them. */
async function showHostile(
  browser: Browser,
  { url, owner }: FilledDashboard,
  { opened, report }: { readonly opened: AsyncDisposableStack; readonly report: Report },
): Promise<void> {
  const { context, faults } = await openProfile(browser, url, profileOptions);
  await context.addCookies([cookieFor(url, owner.cookie)]);
  const page = await context.newPage();
  const show = async (path: string) => {
    const injected = await injectedInto(page, url + path);
    report(injected.map((html) => `${path} has ${html}`));
  };
  const api = apiOf(url, owner);
  const servers = await startHostileServers(opened);
  for (const [number, payload] of manyPayloads.entries()) {
    const { paths, remove } = await addHostile(api, { owner, payload, number, servers });
    for (const path of paths) await show(path);
    await remove();
  }
  for (const path of hostileLists(owner.workspaceId)) await show(path);
  const overview = `${url}/w/${owner.workspaceId}`;
  const injected = await injectedIntoPalette(page, overview, manyPayloads);
  report(injected.map((html) => `the palette has ${html}`));
  report(faults);
  await context.close();
}
