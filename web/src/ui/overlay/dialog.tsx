import { createDeferred, useDeferred } from "../deferred.ts";
import type { DialogProps } from "./dialog-panel.tsx";

const panel = createDeferred(async () => (await import("./dialog-panel.tsx")).DialogPanel);

/**
 * A modal dialog. The focus moves into it, stays inside, and returns to the earlier element when it
 * closes.
 */
export function Dialog(props: DialogProps) {
  const Panel = useDeferred(panel, props.open);
  return Panel === undefined ? null : <Panel {...props} />;
}
