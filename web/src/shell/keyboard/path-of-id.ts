import { resourcePath } from "../../data/paths/resource-path.ts";

/** Matches the ids that the palette opens. */
const openable = /^(?:agt|run|sub|trg)_[0-9a-hjkmnp-tv-z]{26}$/;

/**
 * Returns the path of the screen that the palette opens for a text, relative to the workspace;
 * undefined if the text is not the id of an agent, run, subscription or trigger, or if the screen
 * does not exist.
 * @param routes ids of all routes
 */
export function pathOfId(
  text: string,
  workspaceId: string,
  routes: readonly string[],
): string | undefined {
  if (!openable.test(text)) return undefined;
  const path = resourcePath(text, workspaceId, routes);
  // The only difference to other links: as for an agent that is found by its name, the palette
  // opens the playground, whichever tab is the first.
  return path !== undefined && text.startsWith("agt_") ? `${path}/playground` : path;
}
