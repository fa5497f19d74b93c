import { type CurrentWorkspace, reasonWithout } from "../data/index.ts";

/** Returns why the person cannot change agents, for a disabled action; undefined if they can. */
export function needsEditor(can: CurrentWorkspace["can"]): string | undefined {
  return reasonWithout("agents:write", can);
}
