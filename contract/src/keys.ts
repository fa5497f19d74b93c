import { z } from "zod";
import { cleanText, name } from "./text.ts";

/**
 * What a workspace key may be granted, and what a member's role stands for. `agents:invoke` starts runs; `write` includes pause, rotate and
 * delete; `workspaces:own` is what owners alone may do: make and remove owners, reset passwords, add workspaces.
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
  "keys:read",
  "keys:write",
  "audit:read",
  "members:read",
  "members:write",
  "workspaces:read",
  "workspaces:write",
  "workspaces:own",
] as const;
/** What a key can be allowed to do. */
export type Scope = (typeof scopes)[number];

/** Scopes about what belongs to no single agent: a key that is limited to some agents cannot have them. */
export const workspaceScopes: readonly Scope[] = [
  "providers:read",
  "providers:write",
  "audit:read",
  "members:read",
  "members:write",
  "workspaces:read",
  "workspaces:write",
  "workspaces:own",
];

const observer: readonly Scope[] = ["agents:read", "triggers:read", "runs:read", "providers:read"];

/** Scopes for a purpose. A key keeps the scopes its preset stood for when it was made. */
export const presets = {
  /** Starts runs and waits for their answers. */
  invoke: ["agents:invoke"],
  /** Sees agents, triggers, runs and providers; changes nothing. */
  observer,
  /** An observer that starts runs, and retries, cancels and deletes them. */
  operator: [...observer, "agents:invoke", "runs:write"],
  everything: scopes,
} as const satisfies Record<string, readonly Scope[]>;

const scopeList = z.array(z.enum(scopes)).min(1).max(100);
const preset = z.enum(Object.keys(presets) as [keyof typeof presets, ...(keyof typeof presets)[]]);
/** Living agents of the workspace; null: all there are and will be. */
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
  error: "must not stand beside scopes: a preset stands for scopes",
};
const twoExpiries = { path: ["expires_in_days"], error: "must not stand beside expires_at" };

/** Body of `POST /keys`. Without an expiry it lives 90 days; null: until it is deleted. */
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
    error: `is missing: give scopes, or a preset: ${Object.keys(presets).join(", ")}`,
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
 * A workspace key as responses show it. Its secret is only in the response that creates or rotates
 * it.
 */
export const key = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  /** The agents it is limited to; null: it is not. */
  agent_ids: z.array(z.string()).nullable(),
  /** Made by the setting BECKON_BOOTSTRAP_KEY, and changed by it only. */
  bootstrap: z.boolean(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  /** null: never. */
  expires_at: z.iso.datetime().nullable(),
  /** To the minute; null: not yet. */
  last_used_at: z.iso.datetime().nullable(),
});
export type Key = z.infer<typeof key>;
