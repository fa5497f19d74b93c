import { type CurrentWorkspace, roleFor } from "../data/index.ts";

/** Returns why the person cannot change agents, for a disabled action; undefined if they can. */
export function needsEditor(can: CurrentWorkspace["can"]): string | undefined {
  if (can("agents:write")) return undefined;
  return `This needs the role ${roleFor("agents:write")}. Ask an owner of the workspace.`;
}
