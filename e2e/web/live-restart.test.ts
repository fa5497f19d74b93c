import type { Page } from "playwright-core";
import { expect } from "vitest";
import { freePort, startProduct, temporaryFolder } from "../product.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

const settings = {
  PORT: String(await freePort()),
  BECKON_DATA_DIR: temporaryFolder(),
  BECKON_DRAIN_SECONDS: "1",
};
const first = await startProduct(settings);
const { url } = first;
const demo = first.demo();
const owner = await createOwner(url, first.printed(`${url}/setup#token=`));

/** Starts a run of the demo agent and returns its id. */
async function startRun(): Promise<string> {
  const response = await fetch(`${url}/api/public/agents/${demo.id}/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": demo.token },
    body: JSON.stringify({ input: "Hello" }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { run_id: string }).run_id;
}

/** Waits until the feed shows these runs and no others, each once, and the newest first. */
async function expectFeed(page: Page, runIds: readonly string[]): Promise<void> {
  const lines = page.getByRole("list", { name: "Newest runs" }).getByRole("link");
  const shown = () =>
    lines.evaluateAll((links) => links.map((link) => link.getAttribute("href")?.split("/").at(-1)));
  await expect.poll(shown, { timeout: 20_000 }).toEqual(runIds.toReversed());
}

inBrowser(
  "an open page survives a restart of the server: it says that it is not live, then shows all runs once",
  { timeout: 90_000 },
  async () => {
    const page = await openDashboard(url, { as: owner, path: `/w/${owner.workspaceId}` });
    const lamp = page.getByRole("status").filter({ visible: true });
    await lamp.getByText("Live", { exact: true }).waitFor();
    let reloads = 0;
    page.on("domcontentloaded", () => reloads++);
    const runIds = [await startRun()];
    await expectFeed(page, runIds);

    // When the server stops, it closes the connection. So the page shows “Reconnecting…” at once,
    // not only after 20 seconds without data. The test waits for this text while the server stops,
    // because after 45 seconds the page shows “Not live” instead.
    await Promise.all([lamp.getByText("Reconnecting…").waitFor({ timeout: 15_000 }), first.stop()]);
    await lamp.getByText(/^as of \d\d:\d\d:\d\d$/).waitFor();
    await startProduct(settings);
    // This run can end before the page is connected again. The page must show it nevertheless.
    runIds.push(await startRun());
    await lamp.getByText("Live", { exact: true }).waitFor({ timeout: 30_000 });
    runIds.push(await startRun(), await startRun());
    await expectFeed(page, runIds);
    expect(reloads).toBe(0);
  },
);
