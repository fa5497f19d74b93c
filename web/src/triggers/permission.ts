import { type CurrentWorkspace, roleFor } from "../data/index.ts";

/** Returns why the person cannot change triggers, for a disabled action; undefined if they can. */
export function needsEditor(can: CurrentWorkspace["can"]): string | undefined {
  if (can("triggers:write")) return undefined;
  return `This needs the role ${roleFor("triggers:write")}. Ask an owner of the workspace.`;
}

/** Returns why the person cannot send a test, which starts a run; undefined if they can. */
export function needsInvoke(can: CurrentWorkspace["can"]): string | undefined {
  if (can("agents:invoke")) return needsEditor(can);
  return `This needs the role ${roleFor("agents:invoke")}. Ask an owner of the workspace.`;
}
