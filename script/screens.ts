import { mkdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fillDashboard } from "../e2e/web/filled-dashboard.ts";
import { type Screen, type ScreenState, screens } from "../e2e/web/screens.ts";
import { showScreen, statesOf } from "../e2e/web/show-screen.ts";
import { cookieFor, profileOptions, viewports } from "../e2e/web/viewports.ts";
import { launchBrowser, openProfile, type Profile } from "../server/test/chromium.ts";
import { startStandaloneBeckon } from "../server/test/standalone-beckon.ts";

/** Makes a picture of every screen: see script/screens. */
const { values, positionals } = parseArgs({
  options: { only: { type: "string", default: "" } },
  allowPositionals: true,
});
const folder = resolve(positionals[0] ?? "tmp/screens");
/** Pages that are open at the same time. */
const parallel = 4;
const looks = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  wide: { viewport: viewports.wide },
  phone: { viewport: viewports.phone, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
} as const;
type Look = keyof typeof looks;

interface Picture {
  readonly name: string;
  readonly screen: Screen;
  readonly state: ScreenState;
  readonly look: Look;
}

await using opened = new AsyncDisposableStack();
await mkdir(folder, { recursive: true });
const beckon = await startStandaloneBeckon(opened);
const dashboard = await fillDashboard(beckon, { opened });
const browser = await launchBrowser();
opened.defer(() => browser.close());

/** Browser profiles by name: one per look with a session, and one per look without. */
const profiles = new Map<string, Promise<Profile>>();
const remaining = allPictures().values();
await Promise.all(
  Array.from({ length: parallel }, async () => {
    for (const picture of remaining) await takePicture(picture);
  }),
);
for (const [name, opening] of profiles) {
  for (const fault of (await opening).faults) fail(`${name}: ${fault}`);
}

function allPictures(): Picture[] {
  const all = (Object.keys(looks) as Look[]).flatMap((look) =>
    screens
      .filter(({ onPhones }) => onPhones !== true || look === "phone")
      .flatMap((screen) =>
        statesOf(screen).map((state) => ({
          name: `${screen.name}.${state}.${look}`,
          screen,
          state,
          look,
        })),
      ),
  );
  return all.filter(({ name }) => name.includes(values.only));
}

async function takePicture({ name, screen, state, look }: Picture): Promise<void> {
  const { context } = await profileOf(look, screen);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const path = join(folder, `${name}.png`);
  try {
    await showScreen(page, screen, { of: dashboard, state });
    await page.screenshot({ path, fullPage: state !== "dialog" });
    console.log(relative(process.cwd(), path));
  } catch (thrown) {
    fail(`${name}: ${thrown instanceof Error ? thrown.message : thrown}`);
  } finally {
    await page.close();
  }
}

function profileOf(look: Look, { outside }: Screen): Promise<Profile> {
  const name = outside === true ? `${look}, not signed in` : look;
  const known = profiles.get(name);
  if (known !== undefined) return known;
  const opening = openProfile(browser, dashboard.url, { ...profileOptions, ...looks[look] }).then(
    async (profile) => {
      if (outside !== true)
        await profile.context.addCookies([cookieFor(dashboard.url, dashboard.owner.cookie)]);
      return profile;
    },
  );
  profiles.set(name, opening);
  return opening;
}

function fail(message: string): void {
  process.exitCode = 1;
  console.error(`✗ ${message}`);
}
