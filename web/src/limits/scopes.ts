import type { Ceiling } from "@beckon/client";

export type CeilingScope = Ceiling["scope"];

/** What a ceiling (a daily spending limit) applies to, as the screens name it. */
export const scopeLabels: Readonly<Record<CeilingScope, string>> = {
  workspace: "Workspace",
  agent: "Agent",
  key: "Key",
  trigger: "Trigger",
};

export const scopeNames = Object.keys(scopeLabels) as CeilingScope[];

/** Returns what a ceiling applies to, for a sentence: `the workspace`, `the agent Ada`. */
export function scopeWords({
  scope,
  scope_id,
  name,
}: Pick<Ceiling, "scope" | "scope_id" | "name">) {
  return scope === "workspace" ? "the workspace" : `the ${scope} ${name ?? scope_id}`;
}
