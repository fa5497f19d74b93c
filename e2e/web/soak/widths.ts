import type { Page } from "playwright-core";

/** Maximum number of characters in a line of a paragraph. Longer lines are hard to read. */
const maxLineLength = 120;

/** Returns a finding if the page is wider than the window. */
export function overflowFindings(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth <= clientWidth ? [] : [\`is \${scrollWidth} px wide\`];
  })()`);
}

/** Returns the visible paragraphs whose lines have more than `maxLineLength` characters. */
export function lineFindings(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("p")].flatMap((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 8)));
    const text = element.innerText.trim();
    if (tops.size === 0 || getComputedStyle(element).whiteSpace === "nowrap") return [];
    const length = Math.round(text.length / tops.size);
    return length <= ${maxLineLength} ? [] : [\`has lines of \${length} characters: \${text.slice(0, 60)}\`];
  })`);
}
