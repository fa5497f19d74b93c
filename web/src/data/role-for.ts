import type { Scope } from "@beckon/contract";

/** The lowest role that has the scope, as docs/permissions.md lists it. */
const lowest: Readonly<Partial<Record<Scope, string>>> = {
  "agents:write": "editor",
  "agents:invoke": "editor",
  "triggers:write": "editor",
  "runs:write": "editor",
  "providers:write": "editor",
  "subscriptions:write": "editor",
  "limits:write": "admin",
  "plans:write": "owner",
  "keys:read": "editor",
  "keys:write": "admin",
  "audit:read": "admin",
  "members:write": "admin",
  "workspaces:write": "admin",
  "workspaces:own": "owner",
};

/**
 * Returns the lowest role that has the scope, for a sentence such as "Keys need the role editor.
 * Ask an owner."
 */
export function roleFor(scope: Scope): string {
  return lowest[scope] ?? "viewer";
}
