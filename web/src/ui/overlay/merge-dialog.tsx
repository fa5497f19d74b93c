import { createDeferred, useDeferred } from "../deferred.ts";
import type { Fields } from "./merge.ts";
import type { MergeDialogProps } from "./merge-panel.tsx";

const panel = createDeferred(async () => (await import("./merge-panel.tsx")).MergePanel);

/**
 * After a 412: says that someone else saved first, and asks "theirs or yours" for each field that
 * both changed. What only one side changed is merged without asking. Mount it while needed.
 */
export function MergeDialog<Value extends Fields>(props: MergeDialogProps<Value>) {
  const Panel = useDeferred(panel, true);
  return Panel === undefined ? null : <Panel {...props} />;
}
