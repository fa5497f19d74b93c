import { z } from "zod";
import { type Scope, scopes } from "./keys.ts";

/** What a member may be, from the most to the least. */
export const role = z.enum(["owner", "admin", "editor", "viewer"]);
export type Role = z.infer<typeof role>;

const viewer: readonly Scope[] = [
  "agents:read",
  "triggers:read",
  "runs:read",
  "providers:read",
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
  "keys:read",
];

/** A role is a set of scopes, and nothing else: what a member may do is judged as what a key may do. Each role has all of the next one's. */
export const roleScopes: { readonly [Name in Role]: readonly Scope[] } = {
  owner: scopes,
  admin: scopes.filter((scope) => scope !== "workspaces:own"),
  editor,
  viewer,
};
