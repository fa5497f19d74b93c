import { z } from "zod";
import { graceSeconds } from "./grace-seconds.ts";
import { cleanText, name } from "./text.ts";

/**
 * Permissions that workspace keys and roles can have. `agents:invoke` starts runs. A scope ending
 * in `:write` includes pausing, rotating and deleting. `workspaces:own` is for owners only: it
 * permits adding and removing owners, resetting passwords and creating workspaces. `limits:write`
 * permits changes that affect how much money a workspace can spend: changes of its ceilings, of its
 * prices, and of which providers are free. `plans:write` is for owners only: in the workspace
 * `default` it permits changing plans, and the plan of each workspace.
 */
export const scopes = [
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
] as const;
/** One permission of a key or a role. */
export type Scope = (typeof scopes)[number];

/**
 * Scopes that a key cannot have if it is limited to some agents, because the resources of these
 * scopes belong to no agent.
 */
export const workspaceScopes: readonly Scope[] = [
  "providers:read",
  "providers:write",
  "limits:write",
  "plans:write",
  "audit:read",
  "members:read",
  "members:write",
  "workspaces:read",
  "workspaces:write",
  "workspaces:own",
];

const observer: readonly Scope[] = [
  "agents:read",
  "triggers:read",
  "runs:read",
  "providers:read",
  "subscriptions:read",
  "usage:read",
];

/** Named sets of scopes. A key stores the scopes, so later changes of a preset do not affect it. */
export const presets = {
  /** Starts runs and reads their output. */
  invoke: ["agents:invoke"],
  /** Reads agents, triggers, runs, providers, subscriptions and usage. */
  observer,
  /** An observer that also starts, retries, cancels and deletes runs. */
  operator: [...observer, "agents:invoke", "runs:write"],
  everything: scopes,
} as const satisfies Record<string, readonly Scope[]>;

const scopeList = z.array(z.enum(scopes)).min(1).max(100);
const preset = z.enum(Object.keys(presets) as [keyof typeof presets, ...(keyof typeof presets)[]]);
/** Ids of existing agents of the workspace; null means all agents, including future ones. */
const agentIds = z.array(cleanText(100).min(1)).min(1).max(100).nullable();
const days = z.number().int().min(1).max(36_500).nullable();
const time = z.iso.datetime({ offset: true }).nullable();

type Given = {
  scopes?: unknown;
  preset?: unknown;
  expires_in_days?: unknown;
  expires_at?: unknown;
};
const oneGrant = ({ scopes, preset }: Given) => scopes === undefined || preset === undefined;
const oneExpiry = ({ expires_in_days, expires_at }: Given) =>
  expires_in_days === undefined || expires_at === undefined;
const twoGrants = {
  path: ["preset"],
  error: "cannot be combined with scopes: a preset is a set of scopes",
};
const twoExpiries = { path: ["expires_in_days"], error: "cannot be combined with expires_at" };

/**
 * Body of `POST /keys`. A key expires after 90 days by default. It never expires if
 * `expires_in_days` or `expires_at` is null.
 */
export const createKeyBody = z
  .strictObject({
    name,
    scopes: scopeList.optional(),
    preset: preset.optional(),
    agent_ids: agentIds.default(null),
    expires_in_days: days.optional(),
    expires_at: time.optional(),
  })
  .refine(({ scopes, preset }) => scopes !== undefined || preset !== undefined, {
    path: ["scopes"],
    error: `is missing: send scopes, or one of the presets ${Object.keys(presets).join(", ")}`,
  })
  .refine(oneGrant, twoGrants)
  .refine(oneExpiry, twoExpiries);

/** Body of `PATCH /keys/:key_id`. `expires_in_days` counts from now. */
export const updateKeyBody = z
  .strictObject({
    name: name.optional(),
    scopes: scopeList.optional(),
    preset: preset.optional(),
    agent_ids: agentIds.optional(),
    expires_in_days: days.optional(),
    expires_at: time.optional(),
  })
  .refine(oneGrant, twoGrants)
  .refine(oneExpiry, twoExpiries);

/**
 * Body of `POST /keys/:key_id/rotate`. The old secret stays valid for `grace_seconds`: 0 to 604,800
 * (a week). Default: 300 if the key rotates itself, else 0.
 */
export const rotateKeyBody = z.strictObject({ grace_seconds: graceSeconds.optional() });

/**
 * A workspace key in responses. The secret of the key is only in the response that creates or
 * rotates the key.
 */
export const key = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  /** Ids of the agents to which the key is limited; null means no limit. */
  agent_ids: z.array(z.string()).nullable(),
  /**
   * Whether this is the bootstrap key, which comes from the setting BECKON_BOOTSTRAP_KEY or from
   * the data folder. It cannot be changed through the API.
   */
  bootstrap: z.boolean(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  /** null if the key does not expire. */
  expires_at: z.iso.datetime().nullable(),
  /** Updated at most once a minute. null if the key was never used. */
  last_used_at: z.iso.datetime().nullable(),
});
export type Key = z.infer<typeof key>;
