import { type CurrentWorkspace, reasonWithout } from "../data/index.ts";

/** Returns why the person cannot change subscriptions; undefined if they can. */
export function needsEditor(can: CurrentWorkspace["can"]): string | undefined {
  return reasonWithout("subscriptions:write", can);
}
