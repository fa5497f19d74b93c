import type { CurrentWorkspace } from "../data/index.ts";

/**
 * Returns why the person cannot start runs of a trigger, for example by a test or a replay;
 * undefined if they can.
 */
export function whyNoRun(whyNot: CurrentWorkspace["whyNot"]): string | undefined {
  return whyNot("agents:invoke") ?? whyNot("triggers:write");
}
