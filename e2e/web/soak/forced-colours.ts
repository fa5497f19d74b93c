import type { Locator, Page } from "playwright-core";

/** Elements whose state must not be shown by a background alone, which forced colours remove. */
const chosen = [
  "[aria-current]:not([aria-current=false])",
  "[aria-selected=true]",
  "[aria-pressed=true]",
  "input:checked",
].join(", ");

/** How often Tab is pressed on a page. */
const tabs = 8;
/** Width in CSS pixels around an element in which its focus ring is drawn. */
const ring = 6;

/**
 * Checks a page with forced colours: a focus ring is visible, chosen elements look different from
 * others, and buttons have borders. To find out whether a state is visible, compares pictures with
 * and without it.
 * @param seen looks that were checked before; each is checked once. Grows.
 */
export async function forcedColourFindings(page: Page, seen: Set<string>): Promise<string[]> {
  const findings = await page.evaluate<string[]>(buttonsWithoutBorder);
  for (const element of await page.locator(chosen).filter({ visible: true }).elementHandles()) {
    if (await isInvisible(page, element, { what: "state", remove: removeState, seen }))
      findings.push(`has no visible state: ${await htmlOf(element)}`);
  }
  for (let pressed = 0; pressed < tabs; pressed++) {
    await page.keyboard.press("Tab");
    // After the removal of the focus, an open dialog takes it.
    const [element] = await page.locator(":focus:not([role$=dialog])").elementHandles();
    if (element === undefined) continue;
    if (await isInvisible(page, element, { what: "focus", remove: (each) => each.blur(), seen }))
      findings.push(`has no visible focus: ${await htmlOf(element)}`);
  }
  return findings;
}

type Handle = Awaited<ReturnType<Locator["elementHandles"]>>[number];

const htmlOf = (element: Handle) => element.evaluate(({ outerHTML }) => outerHTML.slice(0, 200));

/** The members of an element in the page that this file uses. */
interface PageElement {
  checked?: boolean;
  blur(): void;
  hasAttribute(name: string): boolean;
  setAttribute(name: string, value: string): void;
}

function removeState(element: PageElement): void {
  if (element.checked === true) element.checked = false;
  for (const name of ["aria-current", "aria-selected", "aria-pressed"])
    if (element.hasAttribute(name)) element.setAttribute(name, "false");
}

interface Removal {
  readonly what: string;
  readonly remove: (element: PageElement) => void;
  readonly seen: Set<string>;
}

/**
 * Returns whether the element and its surroundings look the same without the state or the focus.
 * False for an element that looks like one that was checked before.
 */
async function isInvisible(
  page: Page,
  element: Handle,
  { what, remove, seen }: Removal,
): Promise<boolean> {
  const look = await element.evaluate(({ localName, className, outerHTML }) =>
    [localName, className, / type="\w+"/.exec(outerHTML)].join(" "),
  );
  const key = `${what} ${look}`;
  if (seen.has(key)) return false;
  seen.add(key);
  await element.scrollIntoViewIfNeeded();
  const clip = await clipOf(page, element);
  if (clip === undefined) return false;
  const before = await page.screenshot({ clip });
  await element.evaluate(remove);
  return before.equals(await page.screenshot({ clip }));
}

/** Returns the part of the window with the element and its focus ring; undefined if it is empty. */
async function clipOf(page: Page, element: Handle) {
  // The label of a radio button can be a card, which shows the focus of its button.
  const [card = element] = await element.$$("xpath=ancestor::label");
  const box = await card.boundingBox();
  const window = page.viewportSize();
  if (box === null || window === null) return undefined;
  const x = Math.max(0, box.x - ring);
  const y = Math.max(0, box.y - ring);
  const width = Math.min(window.width, box.x + box.width + ring) - x;
  const height = Math.min(window.height, box.y + box.height + ring) - y;
  return width < 1 || height < 1 ? undefined : { x, y, width, height };
}

/**
 * An expression. Returns the visible buttons without a border. A tab needs none, and neither does a
 * part of a group with a border.
 */
const buttonsWithoutBorder = `(() => {
  const hasBorder = (element) => {
    const { borderTopStyle, borderTopWidth } = getComputedStyle(element);
    return borderTopStyle !== "none" && parseFloat(borderTopWidth) > 0;
  };
  return [...document.querySelectorAll("main button, [role=dialog] button")]
    .filter((button) => button.checkVisibility() && button.innerText.trim() !== "")
    .filter((button) => !button.hasAttribute("role") && !hasBorder(button))
    .filter((button) => !hasBorder(button.parentElement))
    .filter((button) => !getComputedStyle(button).textDecorationLine.includes("underline"))
    .map((button) => "has no border: " + button.outerHTML.slice(0, 200));
})()`;
