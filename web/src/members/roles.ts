import type { Member } from "@beckon/client";

/** The role of a member. */
export type Role = Member["role"];

/** The roles with labels and explanations, in descending order of permissions. */
const roles: readonly { readonly value: Role; readonly label: string; readonly hint: string }[] = [
  {
    value: "owner",
    label: "Owner",
    hint: "Everything, also new workspaces and reset links.",
  },
  {
    value: "admin",
    label: "Admin",
    hint: "Also manages members, keys and the workspace.",
  },
  {
    value: "editor",
    label: "Editor",
    hint: "Makes and runs agents, with their triggers and providers.",
  },
  {
    value: "viewer",
    label: "Viewer",
    hint: "Sees agents and runs, and changes nothing.",
  },
];

/** Returns the label of a role. */
export function roleLabel(role: Role): string {
  return roles.find(({ value }) => value === role)?.label ?? role;
}

/**
 * Returns why the person cannot grant or take away a role; undefined if they can.
 * @param own role of the person
 */
export function outOfReach(role: Role, own: Role): string | undefined {
  const rank = (each: Role) => roles.findIndex(({ value }) => value === each);
  return rank(role) < rank(own) ? `Only an ${role} can do this.` : undefined;
}

/** Returns the options for a role. Roles above the person's own are disabled, with the reason. */
export function roleChoices(own: Role) {
  return roles.map((role) => ({
    ...role,
    disabledReason:
      outOfReach(role.value, own) === undefined ? undefined : `Only an ${role.value} can grant it.`,
  }));
}
