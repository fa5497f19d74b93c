/** The elements to which open dialogs return the focus. Several dialogs can have the same one. */
const openers = new Set<{ readonly element: Element | null }>();
/** For removed elements: the function that focuses another element, and returns whether it did. */
const replacements = new WeakMap<Element, () => boolean>();

/** Registers the opener of a dialog. Returns the function that removes it. */
export function addOpener(element: Element | null): () => void {
  const opener = { element };
  openers.add(opener);
  return () => void openers.delete(opener);
}

/** Returns the elements that have the focus, or get it when a dialog closes. */
export function focusOwners(): readonly Element[] {
  const owners = [document.activeElement, ...[...openers].map(({ element }) => element)];
  return owners.filter((owner) => owner !== null);
}

/**
 * Determines what gets the focus instead of an element that a rendering has removed: at once if
 * nothing has the focus, otherwise when the dialog closes.
 * @param focus focuses another element, and returns whether it did
 */
export function replaceFocus(removed: Element, focus: () => boolean): void {
  replacements.set(removed, focus);
  focusInstead(removed);
}

/**
 * If nothing has the focus, focuses what replaces an element that was removed; by default the
 * page's heading.
 */
export function focusInstead(removed: Element): void {
  if (document.activeElement !== document.body || replacements.get(removed)?.() === true) return;
  document.querySelector<HTMLElement>("main h1")?.focus();
}
