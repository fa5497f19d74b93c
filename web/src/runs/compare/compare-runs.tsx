import { lazy, Suspense } from "react";
import type { CompareDialogProps } from "./compare-dialog.tsx";

const CompareDialog = lazy(async () => ({
  default: (await import("./compare-dialog.tsx")).CompareDialog,
}));

/** A dialog with the outputs of two runs side by side. */
export function CompareRuns(props: CompareDialogProps) {
  return (
    <Suspense>
      <CompareDialog {...props} />
    </Suspense>
  );
}
