import type { Page } from "playwright-core";

/**
 * Chooses an agent by its name in a field whose options are found by typing.
 * @param label the label of the field
 */
export async function chooseAgent(page: Page, label: string, name: string): Promise<void> {
  await page.getByRole("button", { name: `${label}: not chosen`, exact: true }).click();
  const options = page.getByRole("dialog", { name: label, exact: true });
  await options.getByLabel("Search agents").fill(name);
  await options.getByRole("button", { name, exact: true }).click();
  await options.waitFor({ state: "detached" });
}
