import type { Key } from "@beckon/client";
import type { Scope } from "@beckon/contract";
import { type CurrentWorkspace, reasonWithout } from "../data/index.ts";

type Can = CurrentWorkspace["can"];

/** Returns why the person cannot change keys, for a disabled action; undefined if they can. */
export function needsAdmin(can: Can): string | undefined {
  return reasonWithout("keys:write", can);
}

/** Returns why the person cannot change this key; undefined if they can. */
export function whyFixed(key: Key, can: Can): string | undefined {
  if (key.bootstrap) return "Only its setting, BECKON_BOOTSTRAP_KEY, changes this key.";
  return needsAdmin(can);
}

/** Returns why the person cannot get a new secret of this key; undefined if they can. */
export function whyNotRotated(key: Key, can: Can, nowMs: number): string | undefined {
  const fixed = whyFixed(key, can);
  if (fixed !== undefined) return fixed;
  if (key.expires_at !== null && Date.parse(key.expires_at) <= nowMs)
    return "This key has expired. Edit its expiry first.";
  return whyNotGranted(key.scopes as Scope[], can);
}

/** Returns why the person cannot grant these scopes; undefined if they can. */
export function whyNotGranted(scopes: readonly Scope[], can: Can): string | undefined {
  const missing = scopes.filter((scope) => !can(scope));
  if (missing.length === 0) return undefined;
  return `Your role does not have ${missing.join(", ")}, so you cannot grant it.`;
}
