import { createDeferred, useDeferred } from "../deferred.ts";
import type { DialogProps } from "./dialog-panel.tsx";

const panel = createDeferred(async () => (await import("./dialog-panel.tsx")).DialogPanel);

/**
 * A modal dialog. The focus moves into the dialog and stays inside. When the dialog closes, the
 * element that had the focus before gets it back.
 */
export function Dialog(props: DialogProps) {
  const Panel = useDeferred(panel, props.open, () => props.onOpenChange(false));
  return Panel === undefined ? null : <Panel {...props} />;
}
