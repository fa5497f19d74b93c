import type { Key } from "@beckon/client";
import { formatCounted } from "../format/index.ts";
import { presetOf, presetTexts } from "./scopes.ts";

/** What a key can do, as the name of a preset or as a count. */
export function scopesText({ scopes, agent_ids: agents }: Key): string {
  const preset = presetOf(scopes, agents !== null);
  return preset === undefined ? formatCounted(scopes.length, "scope") : presetTexts[preset].label;
}
