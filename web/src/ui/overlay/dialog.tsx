import { createDeferred, useDeferred } from "../deferred.ts";
import type { DialogProps } from "./dialog-panel.tsx";

const panel = createDeferred(async () => (await import("./dialog-panel.tsx")).DialogPanel);

/** A modal dialog. Focus moves in, stays in, and returns to where it was. */
export function Dialog(props: DialogProps) {
  const Panel = useDeferred(panel, props.open);
  return Panel === undefined ? null : <Panel {...props} />;
}
