import { createDeferred, useDeferred } from "../deferred.ts";
import type { Fields } from "./merge.ts";
import type { MergeDialogProps } from "./merge-panel.tsx";

const panel = createDeferred(async () => (await import("./merge-panel.tsx")).MergePanel);

/**
 * Shown after a 412: says that someone else has saved in the meantime, and asks "theirs or yours"
 * for each field that both have changed. Fields that only one side has changed are merged
 * automatically. Mount it only while it is needed.
 */
export function MergeDialog<Value extends Fields>(props: MergeDialogProps<Value>) {
  const Panel = useDeferred(panel, true);
  return Panel === undefined ? null : <Panel {...props} />;
}
