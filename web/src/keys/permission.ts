import type { Key } from "@beckon/client";
import type { Scope } from "@beckon/contract";
import type { CurrentWorkspace } from "../data/index.ts";

/** Returns why the person cannot change this key, for a disabled action; undefined if they can. */
export function whyFixed(key: Key, { whyNot }: CurrentWorkspace): string | undefined {
  if (key.bootstrap) return "Only its setting, BECKON_BOOTSTRAP_KEY, changes this key.";
  return whyNot("keys:write");
}

/** Returns why the person cannot get a new secret of this key; undefined if they can. */
export function whyNotRotated(
  key: Key,
  workspace: CurrentWorkspace,
  nowMs: number,
): string | undefined {
  const fixed = whyFixed(key, workspace);
  if (fixed !== undefined) return fixed;
  if (key.expires_at !== null && Date.parse(key.expires_at) <= nowMs)
    return "This key has expired. Edit its expiry first.";
  return whyNotGranted(key.scopes as Scope[], workspace);
}

/** Returns why the person cannot grant these scopes; undefined if they can. */
export function whyNotGranted(
  scopes: readonly Scope[],
  { can }: CurrentWorkspace,
): string | undefined {
  const missing = scopes.filter((scope) => !can(scope));
  if (missing.length === 0) return undefined;
  return `Your role does not have ${missing.join(", ")}, so you cannot grant it.`;
}
