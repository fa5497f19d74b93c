import { AxeBuilder } from "@axe-core/playwright";
import axeCore from "axe-core";
import type { Page } from "playwright-core";

/**
 * The rules whose result depends on the theme. Names, roles and sizes are the same in both themes.
 */
export const rulesOfColours = ["color-contrast", "link-in-text-block"];

/**
 * Checks the page as it is now with axe-core against WCAG 2.2, levels A and AA. Returns the rule,
 * the element and the remedy of each finding.
 *
 * @param options `rules`: only these rules are checked.
 */
export async function accessibilityFindings(
  page: Page,
  { rules }: { readonly rules?: string[] } = {},
): Promise<string[]> {
  // AxeBuilder would load axe-core into the page twice for each check, which takes longer than the
  // check itself. So it is loaded once per page, and AxeBuilder gets a script that does nothing.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeCore.source);
  const axe = new AxeBuilder({ page, axeSource: "0" })
    // Details are collected for violations only, because other results are not used.
    .options({ resultTypes: ["violations"] })
    // Without the legacy mode, each check opens one more page, to combine the results of frames
    // from other origins. The dashboard has no frames.
    .setLegacyMode();
  const { violations } = await (rules === undefined
    ? axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"])
    : axe.withRules(rules)
  ).analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}\n  ${failureSummary}`),
  );
}
