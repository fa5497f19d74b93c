import { setTimeout as sleep } from "node:timers/promises";
import { streamQuery } from "../../web/src/live/stream-query.ts";
import { openStream } from "../open-stream.ts";

/**
 * Sends the requests of browsers that show the overview of the dashboard, without rendering: each
 * reads the page and its files, then the stream of the workspace, statistics every 15 seconds, and
 * the queue, ceilings, plan and subscriptions every minute (`web/src/overview/`). Sends "open" to
 * the parent process when all streams are open, and then works until it is stopped.
 */

/** The server and the number of browsers. The process gets them as its argument, in JSON. */
interface Dashboards {
  readonly port: number;
  readonly key: string;
  readonly count: number;
}

const { port, key, count } = JSON.parse(process.argv[2] ?? "{}") as Dashboards;
const origin = `http://127.0.0.1:${port}`;

async function read(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${origin}${path}`, { headers });
  if (!response.ok) throw new Error(`${path} responded with ${response.status}`);
  return response;
}

const readApi = async (path: string) =>
  (await read(`/api/public${path}`, { "x-api-key": key })).arrayBuffer();

/**
 * Reads the page, the scripts, styles and fonts that it names, and the files of the overview, which
 * `public/theme.js` requests.
 */
async function readPage(): Promise<void> {
  const html = await (await read("/", { accept: "text/html" })).text();
  const named = html.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css|woff2|svg))"/g);
  const ofOverview = /data-overview="([^"]+)"/.exec(html)?.[1]?.split(" ") ?? [];
  for (const path of [
    ...Array.from(named, ([, path = ""]) => path),
    ...ofOverview.map((file) => `/assets/${file}`),
  ])
    await (await read(path)).arrayBuffer();
}

/**
 * Opens the stream of the workspace and discards what it sends. Browsers run on other machines,
 * while this process shares the cores of the server, so it does as little as possible.
 */
async function openEvents(): Promise<void> {
  const path = `/api/public/events?${new URLSearchParams(streamQuery)}`;
  const incoming = await openStream(port, path, key);
  incoming.once("error", () => {}).resume();
}

const lastHour = () => new Date(Date.now() - 3_600_000).toISOString();
const today = () => new Date().toISOString().slice(0, 10);
/** The statistics of the overview. Every 15 seconds one of them is read, in turn. */
const statistics: readonly (() => string)[] = [
  () => `/runs/stats?bucket=minute&created_after=${lastHour()}`,
  () => `/runs/stats?group_by=agent&created_after=${lastHour()}`,
  () => `/usage?from=${today()}&to=${today()}`,
];
/** Read once, when the page opens. */
const first = [
  "/agents?limit=200&view=summary",
  "/runs?view=summary&limit=100",
  "/models?limit=200",
];
/** Read once a minute. The queue is read more often only while runs are queued. */
const states = [
  "/runs?status=queued&view=summary&limit=200",
  "/limits?limit=200",
  "/plan",
  "/subscriptions?limit=200",
];

async function show(): Promise<void> {
  await readPage();
  await openEvents();
  for (const path of [...first, ...states]) await readApi(path);
  for (const path of statistics) await readApi(path());
}

/**
 * Reads the paths in turn.
 * @param phase 0 to 1: the part of the first interval that is over. With the same phase for all
 *   dashboards, a measurement that is shorter than the interval would contain no request.
 */
async function repeat(
  everyMs: number,
  phase: number,
  paths: readonly (() => string)[],
): Promise<never> {
  await sleep(everyMs * (1 - phase));
  for (let turn = 0; ; turn++) {
    const path = paths[turn % paths.length];
    if (path !== undefined) await readApi(path());
    await sleep(everyMs);
  }
}

const dashboards = Array.from({ length: count }, (_, index) => (index + 0.5) / count);
await Promise.all(dashboards.map(show));
process.send?.("open");
await Promise.all(
  dashboards.flatMap((phase) => [
    repeat(15_000, phase, statistics),
    ...states.map((path) => repeat(60_000, phase, [() => path])),
  ]),
);
