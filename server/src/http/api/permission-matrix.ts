import {
  presets,
  type Role,
  role,
  roleScopes,
  type Scope,
  scopes,
  workspaceScopes,
} from "@beckon/contract";
import { accountRoutes } from "./accounts.ts";
import { managedRoutes } from "./index.ts";

/** Who may send a request of this method and path, below `/api/public`. */
interface PermissionRow {
  readonly method: string;
  readonly path: string;
  /** The scope that opens it to a key. */
  readonly scope: Scope;
  /** The roles that open it to a member. */
  readonly roles: readonly Role[];
}

const rolesWith = (scope: Scope) => role.options.filter((name) => roleScopes[name].includes(scope));

/** All routes that are about a workspace: what opens each of them is its scope, and a role is a set of scopes. */
const permissionRows: readonly PermissionRow[] = [
  { method: "POST", path: "/agents/:agent_id/invoke", permission: "agents:invoke" as const },
  ...managedRoutes,
].map(({ method, path, permission }) => ({
  method,
  path,
  scope: permission,
  roles: rolesWith(permission),
}));

/** What a row does not say. */
const remarks: Readonly<Record<string, string>> = {
  "DELETE /members/:user_id":
    "Everybody may remove themselves, which is leaving; the last owner may not.",
  "PATCH /members/:user_id": "Nobody gives a role above their own, nor changes who is above them.",
  "POST /invitations": "To no role above one's own.",
  "POST /keys": "With no scope that one lacks oneself.",
  "PATCH /keys/:key_id": "With no scope that one lacks oneself.",
  "POST /keys/:key_id/rotate": "Of no key that may do more than oneself.",
  "POST /workspaces":
    "In the workspace `default` alone: limits of money are a workspace's, so whoever could add workspaces had none.",
  "POST /members/:user_id/reset-link":
    "Of no member who is also in workspaces that one does not own; who owns `default` looks after all accounts in it.",
};

/** docs/permissions.md: `script/permissions.ts` writes it, a test compares it, and another one every row with real answers. */
export function renderMatrix(): string {
  const yes = (is: boolean) => (is ? "yes" : "·");
  const remark = ({ method, path }: PermissionRow) => remarks[`${method} ${path}`] ?? "";
  return `# Permissions

Who may do what. Made from the code by \`node script/permissions.ts\`; the tests compare each row with what the server answers.

A key has the scopes that it was given, a member those of their role, and each request needs one. Paths are below \`/api/public\`. An agent's
token invokes its agent, and reads and cancels that agent's runs; a trigger's URL fires the trigger, and does nothing else. A key that is limited to
some agents has no scope about ${list([...new Set(workspaceNouns())])}.

## Routes of a workspace

| route | scope of a key | ${role.options.join(" | ")} | remark |
|---|---|${role.options.map(() => "---|").join("")}---|
${permissionRows
  .map((row) => {
    const cells = role.options.map((name) => yes(row.roles.includes(name)));
    return `| \`${row.method} ${row.path}\` | \`${row.scope}\` | ${cells.join(" | ")} | ${remark(row)} |`;
  })
  .join("\n")}

## Routes of a person

They are about the account, which belongs to no workspace: a key has none.

| route | who |
|---|---|
${accountRoutes.map(({ method, path, who }) => `| \`${method} ${path}\` | ${who} |`).join("\n")}

## Scopes

| scope | ${role.options.join(" | ")} | ${Object.keys(presets).join(" | ")} |
|---|${role.options.map(() => "---|").join("")}${Object.keys(presets)
    .map(() => "---|")
    .join("")}
${scopes
  .map((scope) => {
    const inRoles = role.options.map((name) => yes(roleScopes[name].includes(scope)));
    const inPresets = Object.values(presets).map((preset: readonly Scope[]) =>
      yes(preset.includes(scope)),
    );
    return `| \`${scope}\` | ${[...inRoles, ...inPresets].join(" | ")} |`;
  })
  .join("\n")}

The first columns are roles of members, the others presets of keys.
`;
}

/** What the scopes are about that no key has which is limited to agents. */
function workspaceNouns(): string[] {
  return workspaceScopes.map((scope) => scope.split(":")[0] ?? "");
}

function list(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
