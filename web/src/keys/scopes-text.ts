import type { Key } from "@beckon/client";
import { formatCounted } from "../format/index.ts";
import { presetOf, presetTexts } from "./scopes.ts";

/** Returns the permissions of a key in short: the name of a preset, or the number of scopes. */
export function scopesText({ scopes, agent_ids: agents }: Key): string {
  const preset = presetOf(scopes, agents !== null);
  return preset === undefined ? formatCounted(scopes.length, "scope") : presetTexts[preset].label;
}
