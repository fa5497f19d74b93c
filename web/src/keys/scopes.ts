import type { Scope } from "@beckon/contract";

/**
 * Copies of the contract's scopes and presets. Importing the contract would load the schemas of all
 * forms together with the list of keys. keys.test.ts checks that they equal the originals.
 */
export const scopes: readonly Scope[] = [
  "agents:read",
  "agents:write",
  "agents:invoke",
  "triggers:read",
  "triggers:write",
  "runs:read",
  "runs:write",
  "providers:read",
  "providers:write",
  "subscriptions:read",
  "subscriptions:write",
  "limits:write",
  "plans:write",
  "keys:read",
  "keys:write",
  "usage:read",
  "audit:read",
  "members:read",
  "members:write",
  "workspaces:read",
  "workspaces:write",
  "workspaces:own",
];

/**
 * Returns whether a scope concerns the whole workspace. Keys that are limited to some agents cannot
 * have such scopes.
 */
export function isOfWorkspace(scope: Scope): boolean {
  return /^(providers|limits|plans|audit|members|workspaces):/.test(scope);
}

const observer: readonly Scope[] = [
  "agents:read",
  "triggers:read",
  "runs:read",
  "providers:read",
  "subscriptions:read",
  "usage:read",
];

export const presets = {
  invoke: ["agents:invoke"],
  observer,
  operator: [...observer, "agents:invoke", "runs:write"],
  everything: scopes,
} satisfies Record<string, readonly Scope[]>;

/** A named set of scopes. */
export type Preset = keyof typeof presets;

export const presetNames = Object.keys(presets) as Preset[];

/** Names of the presets for people, and what each is for. */
export const presetTexts: Readonly<Record<Preset, { label: string; hint: string }>> = {
  invoke: { label: "Invoke", hint: "Starts runs and reads their output. For your applications." },
  observer: {
    label: "Observer",
    hint: "Reads agents, triggers, runs, providers, subscriptions and usage.",
  },
  operator: { label: "Operator", hint: "Observes, and starts, retries, cancels and deletes runs." },
  everything: { label: "Everything", hint: "All that an owner can do. For administration." },
};

/** What each scope permits. */
export const scopeTexts: Readonly<Record<Scope, string>> = {
  "agents:read": "See agents and their versions",
  "agents:write": "Create, change, pause and delete agents",
  "agents:invoke": "Start runs and read their output",
  "triggers:read": "See triggers",
  "triggers:write": "Create, change and delete triggers",
  "runs:read": "See runs and their events",
  "runs:write": "Retry, cancel and delete runs",
  "providers:read": "See providers and models",
  "providers:write": "Add, change, check and delete providers",
  "subscriptions:read": "See subscriptions and deliveries",
  "subscriptions:write": "Create, change, test and delete subscriptions, and replay deliveries",
  "limits:write": "Set ceilings and prices, and mark providers as free",
  "plans:write": "Manage plans and the plan of each workspace, in the workspace default",
  "keys:read": "See keys",
  "keys:write": "Create, rotate and delete keys",
  "usage:read": "See what was used and what it cost",
  "audit:read": "See who did what",
  "members:read": "See members",
  "members:write": "Invite members, change roles, remove members",
  "workspaces:read": "See the workspace",
  "workspaces:write": "Change the workspace",
  "workspaces:own": "Add owners, reset passwords, create workspaces",
};

/**
 * Returns the scopes of a preset. For a key that is limited to agents, scopes of the whole
 * workspace are left out.
 */
export function scopesOfPreset(preset: Preset, isLimited: boolean): readonly Scope[] {
  return presets[preset].filter((scope) => !isLimited || !isOfWorkspace(scope));
}

/** Returns the preset that has exactly these scopes; undefined if there is none. */
export function presetOf(given: readonly string[], isLimited: boolean): Preset | undefined {
  return presetNames.find((name) => {
    const expected: readonly string[] = scopesOfPreset(name, isLimited);
    return expected.length === given.length && expected.every((scope) => given.includes(scope));
  });
}

/** Scopes grouped by their resource, in the order of the contract. */
export const scopeGroups: readonly { readonly resource: string; readonly scopes: Scope[] }[] = [
  ...new Set(scopes.map((scope) => scope.slice(0, scope.indexOf(":")))),
].map((resource) => ({
  resource: resource.charAt(0).toUpperCase() + resource.slice(1),
  scopes: scopes.filter((scope) => scope.startsWith(`${resource}:`)),
}));
