import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { CDPSession, Page } from "playwright-core";
import { apiOf } from "../e2e/web/api.ts";
import { fillDashboard } from "../e2e/web/filled-dashboard.ts";
import { cookieFor, profileOptions } from "../e2e/web/viewports.ts";
import { launchBrowser } from "../server/test/chromium.ts";
import { startStandaloneBeckon } from "../server/test/standalone-beckon.ts";
import { median } from "./against/statistics.ts";
import { withCleanUp } from "./clean-up.ts";
import { measureClicks } from "./dashboard/measure-clicks.ts";
import { latencyMs, measureScreen } from "./dashboard/measure-screen.ts";
import { measureSizes } from "./dashboard/sizes.ts";
import { storeRuns } from "./store-runs.ts";

/**
 * Measures the dashboard in Chromium: sizes, loading, scrolling, live events and a long run. The
 * CPU is throttled. Because the machine's speed changes, times are also given as ratios to the LCP
 * (Largest Contentful Paint) of a bare page. The bare page downloads the same files from the same
 * server and executes none of them.
 *
 *   script/bench dashboard
 *   script/bench dashboard --seconds 20    a shorter stream of events
 */
const { values } = parseArgs({
  options: { seconds: { type: "string", default: "120" } },
  allowPositionals: true,
});
const seconds = Number(values.seconds);
const cpuSlowdown = 4;
const loads = 5;
const storedRuns = 10_000;
const steps = 1_000;
/**
 * Runs started per second. Screens get 1,000 events per minute, because each run of `demo/echo`
 * reaches them as its start and its end (`web/src/live/expand-merged.ts`).
 */
const runsPerSecond = 1_000 / 60 / 2;

interface Result {
  readonly what: string;
  readonly value: string;
  readonly limit: string;
  /** `value` divided by the LCP of the bare page; empty if the value is not a time. */
  readonly ratio: string;
  readonly passed: boolean;
}
const results: Result[] = measureSizes().map(({ name, bytes, maxBytes }) => ({
  what: `gzip: ${name}`,
  value: `${(bytes / 1_000).toFixed(1)} KB`,
  limit: `${maxBytes / 1_000} KB`,
  ratio: "",
  passed: bytes <= maxBytes,
}));
/** Median LCP (Largest Contentful Paint) of the bare page, in milliseconds. */
let bareMs = 0;

/**
 * Runs in each page before the page's own scripts. It measures in the page when the first rows of a
 * run have been painted, because Playwright would query for them only every 500 ms.
 */
const observe = `globalThis.measured = { lcpMs: 0, cls: 0, longestTaskMs: 0, rowsMs: 0 };
  new MutationObserver((_, observer) => {
    if (document.querySelectorAll("[role=treeitem]").length < 4) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { measured.rowsMs = performance.now(); }));
  }).observe(document, { childList: true, subtree: true });
  const observe = (type, see) => new PerformanceObserver((list) => list.getEntries().forEach(see))
    .observe({ type, buffered: true });
  observe("largest-contentful-paint", ({ startTime }) => { measured.lcpMs = startTime; });
  observe("layout-shift", ({ value, hadRecentInput }) => { if (!hadRecentInput) measured.cls += value; });
  observe("longtask", ({ duration }) => {
    measured.longestTaskMs = Math.max(measured.longestTaskMs, duration);
  });`;

await withCleanUp(async (opened) => {
  const beckon = await startStandaloneBeckon(opened);
  const dashboard = await fillDashboard(beckon, { opened, steps });
  const { owner, url } = dashboard;
  await storeRuns(beckon.databaseUrl, dashboard.bareAgentId, storedRuns);
  const home = `${url}/w/${owner.workspaceId}`;
  const browser = await launchBrowser(["--enable-precise-memory-info"]);
  opened.defer(() => browser.close());

  /** Opens an empty page of a new profile, so that nothing is cached. */
  const open = async (): Promise<{ page: Page; cdp: CDPSession }> => {
    const context = await browser.newContext(profileOptions);
    await context.addCookies([cookieFor(url, owner.cookie)]);
    await context.addInitScript(observe);
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: cpuSlowdown });
    // Each new window loads pages of Chromium's own, for example for its address bar. The delay
    // keeps their CPU time out of the measurement.
    await delay(2_000);
    return { page, cdp };
  };

  const lcps: number[] = [];
  const bareLcps: number[] = [];
  let cls = 0;
  const bare = await barePage(url);
  for (let load = 0; load < loads; load++) {
    const { page } = await open();
    await page.goto(home);
    await page.getByText("Live", { exact: true }).first().waitFor();
    await delay(1_000);
    lcps.push(await page.evaluate<number>("measured.lcpMs"));
    cls = Math.max(cls, await page.evaluate<number>("measured.cls"));
    await page.context().close();
    const other = await open();
    await other.page.route(`${url}/bare`, (route) =>
      route.fulfill({ contentType: "text/html", body: bare }),
    );
    await other.page.goto(`${url}/bare`, { waitUntil: "networkidle" });
    bareLcps.push(await other.page.evaluate<number>("measured.lcpMs"));
    await other.page.context().close();
  }
  bareMs = median(bareLcps);
  addMs("LCP of the overview", median(lcps), 1_500);
  add("CLS of the overview", cls, 0.02, 3);

  const { agent_id: agentId } = await apiOf(url, owner)(`/runs/${dashboard.runs.long}`);
  const paths = ["/runs", `/runs/${dashboard.runs.failed}`, "/agents", `/agents/${agentId}`];
  for (const path of [...paths, "/usage"]) {
    const { page } = await open();
    await page.goto(home + path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await delay(2_000);
    const shift = await page.evaluate<number>("measured.cls");
    add(`CLS of ${path.replace(/(?<=_)[0-9a-z]{26}/, "…")}`, shift, 0.02, 3);
    await page.context().close();
  }

  for (const path of ["/keys", `/agents/${agentId}/settings`, `/agents/${agentId}/triggers`]) {
    const times: number[] = [];
    for (let load = 0; load < loads; load++) {
      const { page, cdp } = await open();
      times.push(await measureScreen(page, cdp, home + path));
      await page.context().close();
    }
    const name = path.replace(/(?<=_)[0-9a-z]{26}/, "…");
    addMs(`${name} complete, latency of ${latencyMs} ms`, median(times), 3_000);
  }

  const clicked = await open();
  await clicked.page.goto(`${home}/runs/${dashboard.runs.failed}`);
  const { clicks, p95Ms } = await measureClicks(clicked.page);
  addMs(`95 % of ${clicks} clicks on a run painted within`, p95Ms, 100);
  await clicked.page.context().close();

  const list = await open();
  await list.page.goto(`${home}/runs`);
  await list.page.locator("tbody tr, [role=row]").nth(5).waitFor();
  await list.page.mouse.move(700, 600);
  await delay(1_000);
  await list.page.evaluate("measured.longestTaskMs = 0");
  let maxRows = 0;
  // The loop reads nothing that makes the browser compute a layout, because the time of the layout
  // would count as a long task.
  for (let atEnd = 0; atEnd < 20; ) {
    await list.page.mouse.wheel(0, 2_000);
    const [rows = 0, rowCount = 0] = await list.page.evaluate<number[]>(
      `[document.querySelectorAll("tbody tr").length,
        Number(document.querySelector("[aria-rowcount]").getAttribute("aria-rowcount"))]`,
    );
    maxRows = Math.max(maxRows, rows);
    // `aria-rowcount` is -1 while the list has further pages.
    if (rowCount > storedRuns) atEnd += 1;
  }
  addMs(`longest task, ${storedRuns} rows scrolled`, await longestTaskOf(list.page), 50);
  add("rows in the DOM", maxRows, 80);
  await list.page.context().close();

  const live = await open();
  await live.page.goto(home);
  await live.page.getByText("Live", { exact: true }).first().waitFor();
  const api = apiOf(url, owner);
  const send = async (durationSeconds: number) => {
    for (let n = 0; n < durationSeconds * runsPerSecond; n++) {
      void api(`/agents/${dashboard.bareAgentId}/invoke`, { input: `Event ${n}` }).catch(() => {});
      await delay(1_000 / runsPerSecond);
    }
  };
  await send(5);
  const heapBefore = await heapMiB(live.cdp);
  await live.page.evaluate("measured.longestTaskMs = 0");
  await send(seconds);
  addMs(`longest task, 1,000 events/min for ${seconds} s`, await longestTaskOf(live.page), 50);
  add("heap growth, MiB", (await heapMiB(live.cdp)) - heapBefore, 5, 1);
  await live.page.context().close();

  const run = await open();
  // Opens another run first, so that the files of the measured page are cached.
  await run.page.goto(`${home}/runs/${dashboard.runs.failed}`);
  await run.page.getByRole("treeitem").first().waitFor();
  await run.page.goto("about:blank");
  await run.page.goto(`${home}/runs/${dashboard.runs.long}`, { waitUntil: "commit" });
  const rowsMs = await rowsMsOf(run.page);
  // The time includes the start of the dashboard, so the limit is the same as for the LCP of the
  // overview.
  addMs(`first rows of a run of ${steps} steps, page loaded`, rowsMs, 1_500);

  // Clicks a link in the list, as a person does to open a run.
  const pressed = await open();
  await pressed.page.goto(`${home}/runs?agent_id=${agentId}`);
  const link = pressed.page.locator(`a[href$="/runs/${dashboard.runs.long}"]`).first();
  await link.waitFor();
  await delay(1_000);
  await pressed.page.evaluate("measured.startMs = 0");
  await link.evaluate((element) =>
    element.addEventListener(
      "click",
      () => {
        (globalThis as unknown as { measured: { startMs: number } }).measured.startMs =
          performance.now();
      },
      { capture: true },
    ),
  );
  await link.click();
  addMs(
    `first rows of a run of ${steps} steps, opened from the list`,
    (await rowsMsOf(pressed.page)) - (await pressed.page.evaluate<number>("measured.startMs")),
    500,
  );
});
print();

/**
 * Waits until the page of a run has painted its first rows (see `observe`), and returns the time
 * from the navigation to that paint. The page itself polls: Playwright's `waitForFunction` compiles
 * text in the page, which its CSP forbids.
 */
function rowsMsOf(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((done) => {
    const look = () => measured.rowsMs > 0 ? done(measured.rowsMs) : requestAnimationFrame(look);
    look();
  })`);
}

function add(what: string, value: number, limit: number, digits = 0, ratio = ""): void {
  const passed = value <= limit;
  results.push({ what, value: value.toFixed(digits), limit: String(limit), ratio, passed });
}

/** Adds a time with its ratio to the bare page, because times alone depend on the machine. */
function addMs(what: string, ms: number, limitMs: number): void {
  add(`${what}, ms`, ms, limitMs, 0, (ms / bareMs).toFixed(2));
}

function print(): void {
  console.log("\n| what | value | limit | to a bare page | |");
  console.log("|---|---:|---:|---:|---|");
  for (const { what, value, limit, ratio, passed } of results)
    console.log(`| ${what} | ${value} | ${limit} | ${ratio} | ${passed ? "" : "above"} |`);
  console.log(`\nThe LCP of the bare page is ${bareMs.toFixed(0)} ms.`);
}

/**
 * Returns a page that downloads the same files as the dashboard's page and shows one line of text.
 */
async function barePage(url: string): Promise<string> {
  const html = await (await fetch(url)).text();
  const files = [...html.matchAll(/"(\/assets\/[^"]+\.(js|css))"/g)];
  const links = files.map(
    ([, path]) => `<link rel="preload" as="fetch" crossorigin href="${path}">`,
  );
  return `<!doctype html><title>Bare</title>${links.join("")}<h1>A page with one line of text</h1>`;
}

function longestTaskOf(page: Page): Promise<number> {
  return page.evaluate<number>("measured.longestTaskMs");
}

async function heapMiB(cdp: CDPSession): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  return (await cdp.send("Runtime.getHeapUsage")).usedSize / 1_024 / 1_024;
}
