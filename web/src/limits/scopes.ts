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

/**
 * Returns why nobody can change a ceiling; undefined if it can be changed. Its `name` is null if
 * what it applies to was deleted: people who can change ceilings can read the name of everything.
 */
export const reasonUnchangeable = ({ name }: Pick<Ceiling, "name">) =>
  name === null ? "It was deleted. Its ceiling can only be deleted." : undefined;
