import type { Page, Request, Route } from "playwright-core";
import { eventually } from "../../server/test/eventually.ts";
import type { FilledDashboard } from "./filled-dashboard.ts";
import type { Screen, ScreenState } from "./screens.ts";

/** Returns the states that a screen has. */
export function statesOf({ empty, dialog, isStatic, only }: Screen): readonly ScreenState[] {
  if (only !== undefined) return [only];
  return [
    "normal",
    ...(empty === undefined ? [] : (["empty"] as const)),
    ...(isStatic === true ? [] : (["failing"] as const)),
    ...(dialog === undefined ? [] : (["dialog"] as const)),
  ];
}

/**
 * Opens a screen in a state and waits until the screen is complete.
 * @throws {Error} the screen says that something was not found, and the table does not say so.
 */
export async function showScreen(
  page: Page,
  screen: Screen,
  { of, state }: { readonly of: FilledDashboard; readonly state: ScreenState },
): Promise<void> {
  const path = (state === "empty" ? screen.empty : undefined) ?? screen.path;
  await page.unrouteAll();
  if (screen.name === "setup" && state === "normal")
    await page.route("**/api/public/setup/check", validSetupLink);
  if (state === "failing") await page.route("**/api/public/**", failOwnCalls);
  if (screen.stored !== undefined) {
    // A page of the same origin that does not read the storage.
    await page.goto(new URL("/healthz", of.url).href);
    for (const entry of Object.entries(screen.stored(of)))
      await page.evaluate(`sessionStorage.setItem(...${JSON.stringify(entry)})`);
  }
  await openSettled(page, new URL(path(of), of.url).href);
  const missing = page.getByRole("heading", { name: /not found$/ });
  if (state === "normal" && screen.isMissing !== true && (await missing.count()) > 0)
    throw new Error(`${screen.name}: ${await missing.textContent()}`);
  const steps = screen.dialog;
  if (state !== "dialog" || steps === undefined) return;
  await settled(page, async () => {
    for (const step of steps) {
      if (typeof step === "string") await page.keyboard.press(step);
      else await controlNamed(page, step).click();
    }
  });
  await page.getByRole("dialog").or(page.getByRole("alertdialog")).waitFor();
}

/** Returns the first visible control with this name. */
const controlNamed = (page: Page, name: RegExp) =>
  (["link", "menuitem", "checkbox"] as const)
    .reduce(
      (found, role) => found.or(page.getByRole(role, { name })),
      page.getByRole("button", { name }),
    )
    .filter({ visible: true })
    .first();

/** Opens a page and waits until the page is complete. */
export async function openSettled(page: Page, url: string): Promise<void> {
  // If only the fragment changes, `goto` does not load the page again. So the browser opens
  // about:blank first. In all other cases it goes from page to page directly, because Chromium then
  // keeps the process with the scripts that it has compiled.
  if (withoutFragment(page.url()) === withoutFragment(url)) await page.goto("about:blank");
  await settled(page, () => page.goto(url));
}

const withoutFragment = (url: string) => url.replace(/#.*/, "");

/** After this many milliseconds without an API call, a page counts as having all its data. */
const quietMs = 200;

/**
 * An expression to evaluate in the page. It is true if the page has a heading and nothing is
 * loading or connecting.
 */
const isComplete = `document.querySelector("h1") !== null &&
  document.querySelector("[data-skeleton], [aria-label='Loading the page']") === null &&
  !/(Loading|Connecting|Checking the link)…/.test(document.body.innerText)`;

/**
 * Runs `act` and waits until the page has made no API call for `quietMs` and is complete.
 * Playwright's `networkidle` is not used, because it never occurs while a stream is open.
 */
async function settled(page: Page, act: () => Promise<unknown>): Promise<void> {
  const underWay = new Set<Request>();
  let quietSince = performance.now();
  const began = (request: Request) => {
    if (/\/api\/public\/(?!events\b)/.test(request.url())) underWay.add(request);
  };
  const ended = (request: Request) => {
    underWay.delete(request);
    quietSince = performance.now();
  };
  page.on("request", began).on("requestfinished", ended).on("requestfailed", ended);
  try {
    await act();
    await eventually(
      "a page that shows everything",
      async () => {
        if (underWay.size > 0) quietSince = performance.now();
        const isQuiet = performance.now() - quietSince > quietMs;
        return (isQuiet && (await page.evaluate(isComplete))) || undefined;
      },
      20_000,
    );
    await page.evaluate("document.fonts.ready.then(() => undefined)");
  } catch (thrown) {
    const calls = [...underWay].map((request) => request.url()).join(", ");
    throw new Error(`${page.url()}: ${thrown}${calls === "" ? "" : `; under way: ${calls}`}`);
  } finally {
    page.off("request", began).off("requestfinished", ended).off("requestfailed", ended);
  }
}

/**
 * Responds as for a valid setup link. The server would reject the link, because the installation
 * already has an owner.
 */
const validSetupLink = (route: Route) =>
  route.fulfill({ json: { ok: true, data: { workspace_name: "Default" } } });

/** Rejects the API calls of a screen, but not those of the frame around the screen. */
function failOwnCalls(route: Route): Promise<void> {
  const { pathname } = new URL(route.request().url());
  const ofFrame = /^\/api\/public\/(me|workspaces(\/\w+)?|agents\/agt_\w+)$/;
  if (ofFrame.test(pathname)) return route.continue();
  return route.fulfill({
    status: 503,
    // Longer than the maximum `Retry-After` of the client, so the client does not retry.
    headers: { "retry-after": "600", "beckon-request-id": "req_failing" },
    json: {
      ok: false,
      error: "The database cannot be reached. Try again in a few seconds.",
      code: "unavailable",
    },
  });
}
