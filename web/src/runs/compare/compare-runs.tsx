import { lazyPart } from "../../ui/index.ts";

/** A dialog with the outputs of two runs side by side. */
export const CompareRuns = lazyPart(
  async () => (await import("./compare-dialog.tsx")).CompareDialog,
);
