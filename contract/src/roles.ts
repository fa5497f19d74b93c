import { z } from "zod";
import { type Scope, scopes } from "./keys.ts";

/** The role of a member. The values are in descending order of permissions. */
export const role = z.enum(["owner", "admin", "editor", "viewer"]);
export type Role = z.infer<typeof role>;

const viewer: readonly Scope[] = [
  "agents:read",
  "triggers:read",
  "runs:read",
  "providers:read",
  "subscriptions:read",
  "usage:read",
  "members:read",
  "workspaces:read",
];

const editor: readonly Scope[] = [
  ...viewer,
  "agents:write",
  "agents:invoke",
  "triggers:write",
  "runs:write",
  "providers:write",
  "subscriptions:write",
  "keys:read",
];

/** Scopes of each role. Each role includes all scopes of the roles after it. */
export const roleScopes: { readonly [Name in Role]: readonly Scope[] } = {
  owner: scopes,
  admin: scopes.filter((scope) => scope !== "workspaces:own" && scope !== "plans:write"),
  editor,
  viewer,
};
