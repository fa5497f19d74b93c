import { type RefObject, useEffect, useEffectEvent } from "react";

/**
 * Calls `handle` when Esc is pressed in a field. A dialog or popover around the field then stays
 * open. If `handle` is undefined, Esc has its usual effect: it closes the dialog or popover.
 */
export function useEscape(
  field: RefObject<HTMLElement | null>,
  handle: (() => void) | undefined,
): void {
  const isActive = handle !== undefined;
  const run = useEffectEvent(() => handle?.());
  useEffect(() => {
    if (!isActive) return;
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.target !== field.current) return;
      event.stopPropagation();
      run();
    };
    // Radix closes dialogs and popovers in the capture phase of the document, before any handler of
    // React is called. Only a listener of the window is called earlier.
    addEventListener("keydown", press, true);
    return () => removeEventListener("keydown", press, true);
  }, [field, isActive]);
}
