import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/** Tests what pages do while their requests take long, and after they have failed. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const root = `/w/${owner.workspaceId}`;
const open = (path: string) => openDashboard(beckon.url, { as: owner, path: root + path });

inBrowser("pages that cannot be loaded have a title", async () => {
  const page = await open("");
  await page.route(/\/api\/public\/(runs|subscriptions)\//, (route) =>
    route.fulfill({ status: 400, json: {} }),
  );
  const id = "0".repeat(26);
  for (const [path, title] of [
    [`/runs/run_${id}`, "Run · Beckon"],
    [`/subscriptions/sub_${id}`, "Subscription · Beckon"],
    [`/subscriptions/sub_${id}/deliveries/dlv_${id}`, "Delivery · Beckon"],
  ] as const) {
    await page.goto(beckon.url + root + path);
    await page.getByText(/could not be loaded\./).waitFor();
    await expect.poll(() => page.title()).toBe(title);
  }
});

inBrowser("a cancelled replay sends no more, and closes no other dialog", async () => {
  const { body } = await beckon.call("/subscriptions", {
    body: { url: "https://example.com", event_types: ["run.finished"] },
  });
  const page = await open(`/subscriptions/${body.data.id}?act=replay`);
  const [isHeld, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let requests = 0;
  await page.route("**/replay", async (route) => {
    requests += 1;
    isHeld.resolve();
    await held.promise;
    const next_until = new Date(Date.now() - 60_000).toISOString();
    await route.fulfill({ json: { ok: true, data: { replayed: 3, more: true, next_until } } });
  });
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Replay", exact: true }).click();
  await isHeld.promise;
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Description").fill("Being typed");
  held.resolve();
  await page.getByText("3 deliveries are pending again").first().waitFor();
  expect(requests).toBe(1);
  expect(await page.getByLabel("Description").inputValue()).toBe("Being typed");
  expect(await page.getByRole("alertdialog").count()).toBe(0);
});
