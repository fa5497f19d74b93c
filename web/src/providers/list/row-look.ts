/**
 * Classes of a row with three columns: the provider, its state, and the actions. On narrow screens
 * the row has two lines.
 */
export const rowLook =
  "grid min-w-0 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-2 " +
  "lg:grid-cols-[minmax(0,1fr)_11rem_15.5rem]";
