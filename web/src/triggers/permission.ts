import { type CurrentWorkspace, reasonWithout } from "../data/index.ts";

/** Returns why the person cannot change triggers, for a disabled action; undefined if they can. */
export function needsEditor(can: CurrentWorkspace["can"]): string | undefined {
  return reasonWithout("triggers:write", can);
}

/** Returns why the person cannot send a test, which starts a run; undefined if they can. */
export function needsInvoke(can: CurrentWorkspace["can"]): string | undefined {
  return reasonWithout("agents:invoke", can) ?? needsEditor(can);
}
