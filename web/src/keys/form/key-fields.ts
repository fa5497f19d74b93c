import type { Key, UpdateKeyBody } from "@beckon/client";
import { createKeyBody, type Scope } from "@beckon/contract";
import type { FieldErrors, Resolver } from "react-hook-form";
import { wording } from "../../data/index.ts";
import { isOfWorkspace, type Preset, presetOf, presetTexts, scopesOfPreset } from "../scopes.ts";

/** Fields of the form of a key. */
export interface KeyFields {
  name: string;
  /** A preset, or `scopes` if the person chooses single scopes. */
  grant: Preset | "scopes";
  scopes: readonly Scope[];
  /** Whether the key is for some agents only. */
  isLimited: boolean;
  agentIds: readonly string[];
  /**
   * A number of days from now, or `never`, or `keep`, which does not change the stored expiry, or
   * `other` if the field `days` has the number of days.
   */
  expiry: string;
  days: string;
}

/** Values for a new key: the preset with the fewest scopes, and an expiry in 90 days. */
export const newKey: KeyFields = {
  name: `${presetTexts.invoke.label} key`,
  grant: "invoke",
  scopes: [],
  isLimited: false,
  agentIds: [],
  expiry: "90",
  days: "90",
};

/** Returns the form's fields for a key that exists. */
export function fieldsOf({ name, scopes, agent_ids: agentIds }: Key): KeyFields {
  return {
    name,
    grant: presetOf(scopes, agentIds !== null) ?? "scopes",
    scopes: scopes as Scope[],
    isLimited: agentIds !== null,
    agentIds: agentIds ?? [],
    expiry: "keep",
    days: "90",
  };
}

/**
 * Returns the fields after a single scope was added or removed. If a preset is chosen, its scopes
 * are what the person sees and changes.
 */
export function withToggled(
  { grant, scopes, isLimited }: KeyFields,
  scope: Scope,
): Pick<KeyFields, "grant" | "scopes"> {
  const before = grant === "scopes" ? scopes : scopesOfPreset(grant, isLimited);
  const isChosen = before.includes(scope);
  return {
    grant: "scopes",
    scopes: isChosen ? before.filter((each) => each !== scope) : [...before, scope],
  };
}

/**
 * Returns the scopes that are chosen in the form. For a key that is limited to agents, scopes of
 * the whole workspace are left out.
 */
export function scopesIn({
  grant,
  scopes,
  isLimited,
}: Pick<KeyFields, "grant" | "scopes" | "isLimited">): readonly Scope[] {
  if (grant !== "scopes") return scopesOfPreset(grant, isLimited);
  return scopes.filter((scope) => !isLimited || !isOfWorkspace(scope));
}

const grantOf = (fields: KeyFields) =>
  fields.grant === "scopes" ? { scopes: [...scopesIn(fields)] } : { preset: fields.grant };

const agentIdsOf = ({ isLimited, agentIds }: KeyFields) => (isLimited ? [...agentIds] : null);

function expiryOf({ expiry, days }: KeyFields): { expires_in_days?: number | null } {
  if (expiry === "keep") return {};
  if (expiry === "never") return { expires_in_days: null };
  return { expires_in_days: daysIn(expiry === "other" ? days : expiry) };
}

/**
 * Returns the days in a text; NaN if it has anything but digits. In many countries "1.000" is a
 * thousand, and must not be read as 1.
 */
export const daysIn = (text: string) => (/^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN);

/** Returns the body of the request that creates the key. */
export function bodyOf(fields: KeyFields) {
  return {
    name: fields.name.trim(),
    ...grantOf(fields),
    agent_ids: agentIdsOf(fields),
    ...expiryOf(fields),
  };
}

/**
 * Returns the body of the request that changes the key. It has only the fields that changed. The
 * API replaces whole lists, so scopes and agents that somebody else has added or removed since
 * `base` are kept so. A preset that is chosen replaces all scopes.
 * @param base The key with which the form was filled in.
 * @param current The key as it is saved.
 */
export function changesFor(base: Key, fields: KeyFields, current: Key): UpdateKeyBody {
  return {
    ...(fields.name.trim() === base.name ? {} : { name: fields.name.trim() }),
    ...grantChange(base, fields, current),
    ...agentsChange(base, fields, current),
    ...expiryOf(fields),
  };
}

function grantChange(base: Key, fields: KeyFields, current: Key) {
  const scopes = scopesIn(fields);
  if (hasSame(scopes, base.scopes)) return {};
  if (fields.grant !== "scopes") return grantOf(fields);
  return { scopes: merge(base.scopes as Scope[], scopes, current.scopes as Scope[]) };
}

function agentsChange(base: Key, fields: KeyFields, { agent_ids: current }: Key) {
  const agentIds = agentIdsOf(fields);
  if (hasSame(agentIds, base.agent_ids)) return {};
  return { agent_ids: agentIds && merge(base.agent_ids ?? [], agentIds, current ?? agentIds) };
}

/** Returns the current items with those that the edit added, and without those that it removed. */
function merge<Item>(
  base: readonly Item[],
  edited: readonly Item[],
  current: readonly Item[],
): Item[] {
  const added = edited.filter((item) => !base.includes(item));
  const removed = base.filter((item) => !edited.includes(item));
  return [...new Set([...current, ...added])].filter((item) => !removed.includes(item));
}

function hasSame(some: readonly string[] | null, others: readonly string[] | null): boolean {
  if (some === null || others === null) return some === others;
  return some.length === others.length && some.every((each) => others.includes(each));
}

/** For each field of the API, the form field from which it is computed. */
export const sources: Readonly<Record<string, keyof KeyFields>> = {
  name: "name",
  scopes: "scopes",
  preset: "grant",
  agent_ids: "agentIds",
  expires_in_days: "days",
};

/** Checks the form as the API will check the request. */
export const keyResolver: Resolver<KeyFields> = (fields) => {
  const { error } = createKeyBody.safeParse(bodyOf(fields), { error: wording });
  if (error === undefined) return { values: fields, errors: {} };
  const errors: FieldErrors<KeyFields> = {};
  for (const { path, message } of error.issues) {
    const field = sources[String(path[0])] ?? "name";
    const said: { type: string; message: string } = {
      type: "schema",
      message: messageFor(field, fields) ?? message,
    };
    Object.assign(errors, { [field]: errors[field] ?? said });
  }
  return { values: {}, errors };
};

/**
 * Returns a message that says what to enter or choose; undefined to show the message of the zod
 * issue.
 */
function messageFor(field: keyof KeyFields, fields: KeyFields): string | undefined {
  if (field === "name" && fields.name.trim() === "") return "Enter a name, for example Shop.";
  if (field === "scopes" && scopesIn(fields).length === 0) return "Choose at least one scope.";
  if (field === "agentIds" && fields.agentIds.length === 0) return "Choose at least one agent.";
  if (field === "agentIds") return "Choose at most 100 agents.";
  if (field === "days") return "Enter a whole number of days, 1 to 36,500.";
  return undefined;
}
