import type { Page } from "playwright-core";
import { expect } from "vitest";
import { addRun } from "../../server/test/add-run.ts";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/** Tests that what a person has typed is checked, and not lost without a question. */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const workspace = `/w/${owner.workspaceId}`;
const agent = await beckon.createAgent({ name: "Refund desk" });
const trigger = await beckon.createTrigger(agent.id, { name: "Payments" });

const open = (path: string) => openDashboard(beckon.url, { as: owner, path: workspace + path });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Presses Escape, and keeps the dialog that asks about unsaved changes open. */
async function expectQuestion(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  const question = page.getByRole("alertdialog", { name: "Close without saving?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "detached" });
}

inBrowser("the reason of a pause is checked when one leaves it, and not lost by Esc", async () => {
  const page = await open(`/agents/${agent.id}/settings`);
  await button(page, "Pause").click();
  const reason = page.getByRole("dialog").getByLabel("Reason");
  await reason.fill("x".repeat(501));
  await page.keyboard.press("Tab");
  await page.getByText(/500/).waitFor();
  await expectQuestion(page);
  await reason.fill("Holiday");
  await button(page, "Pause agent").click();
  await button(page, "Resume").waitFor();
  expect(await page.getByRole("alertdialog").count()).toBe(0);
});

inBrowser("a new name of a trigger is not lost by Esc", async () => {
  const page = await open(`/agents/${agent.id}/triggers/${trigger.id}`);
  await button(page, "More about this trigger").click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Refunds");
  await expectQuestion(page);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Refunds" }).waitFor();
});

inBrowser("the input of a retry is checked when one leaves it", async () => {
  const runId = await addRun(beckon.db.database, {
    workspaceId: owner.workspaceId,
    agentId: agent.id,
  });
  const page = await open(`/runs/${runId}`);
  await button(page, "Retry").click();
  await page.getByRole("menuitem", { name: "With another input" }).click();
  await page.getByRole("dialog").getByLabel("Input").fill("");
  await page.keyboard.press("Tab");
  await page.getByRole("dialog").getByText("Must not be empty.").waitFor();
});
