import { type CurrentWorkspace, reasonWithout } from "../data/index.ts";

/** Returns why the person cannot change providers, to show at a button; undefined if they can. */
export function needsEditor(can: CurrentWorkspace["can"]): string | undefined {
  return reasonWithout("providers:write", can);
}
