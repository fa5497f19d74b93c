/** Classes that text controls share. */
export const controlLook =
  "w-full min-w-0 rounded-control border border-edge bg-field text-body text-ink " +
  "transition-colors hover:border-ink-3 " +
  "focus:border-tide focus:outline-2 focus:-outline-offset-1 focus:outline-tide " +
  "aria-invalid:border-flare aria-invalid:focus:outline-flare " +
  "disabled:cursor-not-allowed disabled:border-rule disabled:bg-page disabled:text-ink-3 " +
  "[&[readonly]]:bg-page aria-disabled:bg-page";

/** Classes of a radio button; the card around it shows the focus. */
export const radioLook =
  "size-4 shrink-0 appearance-none rounded-full border border-edge bg-field outline-none " +
  "checked:border-5 checked:border-tide disabled:border-rule disabled:bg-page " +
  "forced-colors:appearance-auto";
