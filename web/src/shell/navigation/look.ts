/** Classes of an entry of the navigation. */
export const entryLook =
  "flex min-h-control w-full min-w-0 items-center gap-2 rounded-control px-3 text-left text-ink-2 " +
  "hover:bg-hover hover:text-ink lg:px-2";

/**
 * Classes of an entry's label. Below a width of 1100 px there is no space for it, so it is visible
 * only to assistive technology.
 */
export const labelLook = (isAlwaysShown: boolean) =>
  isAlwaysShown
    ? "min-w-0 flex-1 truncate"
    : "sr-only min-w-0 flex-1 truncate lg:not-sr-only lg:truncate";
