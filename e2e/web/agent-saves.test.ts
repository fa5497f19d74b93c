import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";
import { type HoldOptions, holdRequests } from "./hold-requests.ts";

/** Tests what happens if another screen is opened while an agent's settings are being saved. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const openTab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Agent" }).getByRole("link", { name }).click();

/** Edits the instructions of the agent at `path`, presses Save, and holds the request. */
async function save(page: Page, path: string, instructions: string, options: HoldOptions = {}) {
  const held = await holdRequests(page, new RegExp(`${path}$`), { method: "PATCH", ...options });
  await field(page, "Instructions").fill(instructions);
  await button(page, "Save").click();
  await held.reached;
  return held;
}

/** Opens the settings of a new agent. */
async function openSettings() {
  const { id } = await beckon.createAgent({ instructions: "Old" });
  const path = `/agents/${id}`;
  const page = await openDashboard(beckon.url, {
    as: owner,
    path: `/w/${owner.workspaceId}${path}/settings`,
  });
  return { page, path, read: async () => (await beckon.call(path)).body.data };
}

inBrowser("settings whose save ends on the playground are saved", async () => {
  const { page, path } = await openSettings();
  const held = await save(page, path, "Mine", { isSent: true });
  await openTab(page, "Playground");
  await page.getByText("Runs as a draft with 1 unsaved change.").waitFor();
  await held.release();
  await page.getByText("Saved v2").waitFor();
  await page.getByText("Runs as a draft").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Agents" }).first().click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
});

inBrowser("what is typed on the settings during a save of the playground is kept", async () => {
  const { page, path, read } = await openSettings();
  await openTab(page, "Playground");
  await field(page, "Message").waitFor();
  const held = await save(page, path, "Sent");
  await openTab(page, "Settings");
  await field(page, "Name").waitFor();
  await field(page, "Instructions").fill("Typed later");
  await held.release();
  await button(page, "Discard").waitFor();
  expect(await field(page, "Instructions").inputValue()).toBe("Typed later");
  expect(await read()).toMatchObject({ version: 2, instructions: "Sent" });
  await button(page, "Save").click();
  await page.getByText("Saved v3").waitFor();
  expect(await read()).toMatchObject({ version: 3, instructions: "Typed later" });
});

for (const [status, code, message, shown] of [
  [400, "bad_request", "instructions: wrong", "Instructions: wrong."],
  [500, "internal", "It failed.", "It failed."],
] as const)
  inBrowser(`settings whose save fails with ${status} say so on the playground`, async () => {
    const { page, path } = await openSettings();
    const held = await save(page, path, "Mine", {
      handle: (route) => route.fulfill({ status, json: { ok: false, error: message, code } }),
    });
    await openTab(page, "Playground");
    await field(page, "Message").fill("Hello");
    await held.release();
    const toast = page.locator("li", { hasText: "The settings were not saved." });
    await toast.getByText(message, { exact: true }).waitFor();
    await page.getByRole("form", { name: "Settings" }).getByText(shown, { exact: true }).waitFor();
    await field(page, "Message").and(page.locator(":focus")).waitFor();
  });

inBrowser("a conflict that is found on the playground is resolved there", async () => {
  const { page, path, read } = await openSettings();
  const held = await save(page, path, "Mine");
  await beckon.call(path, { method: "PATCH", body: { instructions: "Theirs" } });
  await openTab(page, "Playground");
  await field(page, "Message").waitFor();
  await held.release();
  await page.getByRole("radio", { name: "Yours Mine" }).check();
  await button(page, "Save merged").click();
  await page.getByText("Saved v3").waitFor();
  expect(await read()).toMatchObject({ version: 3, instructions: "Mine" });
});

inBrowser("settings that are opened again before they are saved show that they are", async () => {
  const { page, path, read } = await openSettings();
  const held = await save(page, path, "Mine");
  await openTab(page, "Connect");
  await button(page, "Leave").click();
  await button(page, "Rotate").waitFor();
  await openTab(page, "Settings");
  await page.getByText("Unsaved: Instructions").waitFor();
  await held.release();
  await page.getByText("Unsaved: Instructions").waitFor({ state: "detached" });
  expect(await field(page, "Instructions").inputValue()).toBe("Mine");
  expect(await read()).toMatchObject({ version: 2, instructions: "Mine" });
});
