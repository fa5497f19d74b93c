/**
 * Copies a text. Browsers offer `navigator.clipboard` only on HTTPS and localhost. Elsewhere, or if
 * it fails, the text is put in a textarea, selected there and copied with `execCommand`.
 *
 * @param near the pressed button. The textarea is put beside it, because a dialog rejects focus
 *   outside of the dialog, and SecretField hides its secret when it loses the focus.
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
