import { type CurrentWorkspace, roleFor } from "../data/index.ts";

/** Returns why the person cannot change providers, for a disabled action; undefined if they can. */
export function needsEditor(can: CurrentWorkspace["can"]): string | undefined {
  if (can("providers:write")) return undefined;
  return `This needs the role ${roleFor("providers:write")}. Ask an owner of the workspace.`;
}
