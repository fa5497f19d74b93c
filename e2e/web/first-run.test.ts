import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { password } from "../../server/test/people.ts";
import { startProduct, temporaryFolder } from "../product.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

const product = await startProduct({ PORT: "0", BECKON_DATA_DIR: temporaryFolder() });

/**
 * Performs and counts actions. A click is one action, and so is a field that is filled in. The
 * count begins at 1, because opening the setup link is an action, too.
 */
function countActions() {
  let count = 1;
  return {
    count: () => count,
    async click(target: Locator) {
      count++;
      await target.click();
    },
    async fill(field: Locator, text: string) {
      count++;
      await field.fill(text);
    },
  };
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });

inBrowser(
  "from the printed link to a run of an agent of one's own takes at most 12 actions",
  async () => {
    const path = `/setup#token=${product.printed(`${product.url}/setup#token=`)}`;
    const page = await openDashboard(product.url, { path });
    let reloads = 0;
    page.on("domcontentloaded", () => reloads++);
    const act = countActions();

    await act.fill(field(page, "Your name"), "Ada");
    await act.fill(field(page, "E-mail"), "ada@example.com");
    await act.fill(field(page, "Password"), password);
    await act.click(button(page, "Create owner"));
    await page.waitForURL(new RegExp(`/agents/${product.demo().id}/playground$`));
    await button(page, "Try /call clock {}").waitFor();

    await act.click(link(page, "Agents").first());
    await act.click(link(page, "New agent"));
    await expect.poll(() => field(page, "Model").inputValue()).toBe("demo/echo");
    await act.fill(field(page, "Name"), "Order desk");
    await act.fill(field(page, "Instructions"), "You answer questions about orders.");
    await act.click(button(page, "Create agent"));
    await page.getByRole("heading", { name: "Order desk", level: 1 }).waitFor();

    await act.fill(field(page, "Message"), "Where is order 4711?");
    await act.click(button(page, "Run"));
    await page.getByText("Succeeded").waitFor();
    // The text is shown twice: as the message, and as the output, because demo/echo repeats it.
    const turn = page.getByRole("article", { name: /^Run run_/ });
    await expect.poll(() => turn.getByText("Where is order 4711?").count()).toBe(2);
    expect(act.count()).toBeLessThanOrEqual(12);
    expect(reloads).toBe(0);
  },
);
