/**
 * Copies a text. Browsers offer `navigator.clipboard` only on HTTPS and localhost, so on plain-http
 * addresses it selects the text in a textarea and uses `execCommand`.
 *
 * @param near what was pressed. The textarea is put beside it, because a dialog rejects focus
 *   outside of it, and a revealed secret is hidden when focus leaves it.
 * @returns true if the text is on the clipboard
 */
export async function copyText(text: string, near: Element | null): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The browser has denied the permission. The fallback below often works all the same.
    }
  }
  return copyBySelection(text, near);
}

function copyBySelection(text: string, near: Element | null): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.setAttribute("aria-hidden", "true");
  area.style.position = "fixed";
  area.style.opacity = "0";
  (near?.parentElement ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    area.remove();
  }
}
