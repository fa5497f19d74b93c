import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

const defaultId = "wsp_00000000000000000000000000";

const beckon = await startTestBeckon({ OPENAI_API_KEY: "operator-key-0123456789" });
const owner = await addPerson(beckon, { role: "owner" });
const viewer = await addPerson(beckon, { role: "viewer" });
await beckon.createProvider("http://127.0.0.1:9/v1", "own");
await beckon.createAgent({ model: "own/large" });
await beckon.createAgent();

const open = (as = owner) => openDashboard(beckon.url, { as, path: `/w/${defaultId}/prices` });
const rowOf = (page: Page, model: string) => page.getByRole("row").filter({ hasText: model });

inBrowser("prices show where they come from, and unknown is never 0", async () => {
  const page = await open(viewer);
  await rowOf(page, "own/large").getByText("Unknown", { exact: true }).waitFor();
  await expect
    .poll(() => rowOf(page, "own/large").getByText("unknown", { exact: true }).count())
    .toBe(4);
  await rowOf(page, "demo/echo").getByText("Free").waitFor();
  await expectAccessible(page);
});

inBrowser("a viewer sees prices and cannot change them", async () => {
  const page = await open(viewer);
  await page.getByRole("button", { name: "More about the price of own/large" }).click();
  const item = page.getByRole("menuitem", { name: "Set price" });
  await expect.poll(() => item.getAttribute("aria-disabled")).toBe("true");
  await item.press("Enter");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});

inBrowser("a price of the workspace's own provider is set, changed and deleted", async () => {
  const page = await open();
  const menu = page.getByRole("button", { name: "More about the price of own/large" });
  await menu.click();
  await page.getByRole("menuitem", { name: "Set price" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Input", { exact: true }).fill("0.15");
  await dialog.getByRole("button", { name: "Set price" }).click();
  await dialog.getByText("Fill this in.").waitFor();
  await dialog.getByLabel("Output", { exact: true }).and(page.locator(":focus")).waitFor();
  await dialog.getByLabel("Output", { exact: true }).fill("2000.5");
  await dialog.getByText("Use 2,000 or less.").waitFor();
  await dialog.getByLabel("Output", { exact: true }).fill("0.6");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Set price" }).click();
  await rowOf(page, "own/large").getByText("$0.60").waitFor();
  await rowOf(page, "own/large").getByText("Workspace").waitFor();
  const { data } = (await beckon.call("/prices?model=own/large")).body;
  expect(data[0].current).toMatchObject({
    input_micros_per_million: 150_000,
    output_micros_per_million: 600_000,
    cached_input_micros_per_million: null,
  });

  await menu.click();
  await page.getByRole("menuitem", { name: "Change price" }).click();
  await expect.poll(() => dialog.getByLabel("Input", { exact: true }).inputValue()).toBe("0.15");
  await dialog.getByLabel("Input from the cache").fill("0.01");
  await dialog.getByRole("button", { name: "Set price" }).click();
  await rowOf(page, "own/large").getByText("$0.01").waitFor();

  await menu.click();
  await page.getByRole("menuitem", { name: "Delete price" }).click();
  await page
    .getByText("Its price is then unknown, or $0 if its provider is marked as free.")
    .waitFor();
  await page.getByRole("button", { name: "Delete price" }).click();
  await rowOf(page, "own/large").getByText("Unknown", { exact: true }).waitFor();
});

inBrowser("the price of a built-in model cannot be changed", async () => {
  const page = await open();
  await page.getByRole("button", { name: "More about the price of demo/echo" }).click();
  const item = page.getByRole("menuitem", { name: "Set price" });
  await expect.poll(() => item.getAttribute("aria-disabled")).toBe("true");
});

inBrowser(
  "the price of an own provider is set if the operator has one of the same name",
  async () => {
    const model = "openai/gpt-4o";
    await beckon.createAgent({ model });
    await beckon.createProvider("http://127.0.0.1:9/v1", "openai");
    await beckon.createAgent({ model });
    const page = await open();
    const row = rowOf(page, model).nth(1);
    const menu = row.getByRole("button", { name: `More about the price of ${model}` });
    const act = async (name: string) => {
      await menu.click();
      await page.getByRole("menuitem", { name }).click();
    };
    const dialog = page.getByRole("dialog");
    await act("Set price");
    await dialog.getByLabel("Input", { exact: true }).fill("1");
    await dialog.getByLabel("Output", { exact: true }).fill("7");
    await dialog.getByRole("button", { name: "Set price" }).click();
    await row.getByText("$7.00").waitFor();
    await act("Change price");
    await expect.poll(() => dialog.getByLabel("Output", { exact: true }).inputValue()).toBe("7");
    await dialog.getByLabel("Output", { exact: true }).fill("8");
    await dialog.getByRole("button", { name: "Set price" }).click();
    await row.getByText("$8.00").waitFor();
    await act("Delete price");
    await page.getByRole("button", { name: "Delete price" }).click();
    await row.getByText("$8.00").waitFor({ state: "detached" });
    await expect.poll(() => rowOf(page, model).first().getByText("$10.00").count()).toBe(1);
  },
);
