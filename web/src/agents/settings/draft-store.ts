import { forgetKept, keepOrForget, keptKey, readKept } from "../../data/index.ts";
import type { VersionedFields } from "./fields.ts";
import { type FormValues, isUnsaved } from "./form-values.ts";
import { withoutNewSecrets } from "./tools/secrets.ts";

/** Unsaved settings, with the version of the agent on which they are based. */
export interface SettingsDraft {
  readonly base: VersionedFields;
  readonly values: FormValues;
}

/**
 * The number in the key is raised when stored values change their meaning, so that older drafts are
 * not read. Drafts before number 2 had `max_cost_micros` in micro-dollars instead of dollars.
 */
const keyOf = (userId: string, agentId: string) => keptKey("settings.2", userId, agentId);

/**
 * Stores a user's unsaved settings for this tab, until they are saved or discarded. New secrets are
 * not stored.
 */
export function storeDraft(userId: string, agentId: string, { base, values }: SettingsDraft): void {
  if (!isUnsaved(values, base)) {
    forgetDraft(userId, agentId);
    return;
  }
  const kept = { ...values, tools: values.tools.map((tool) => withoutNewSecrets(tool)) };
  keepOrForget(keyOf(userId, agentId), JSON.stringify({ base, values: kept }));
}

/** Returns the settings that the user has not saved; undefined if there are none. */
export function readDraft(userId: string, agentId: string): SettingsDraft | undefined {
  const text = readKept(keyOf(userId, agentId));
  return text === undefined ? undefined : (JSON.parse(text) as SettingsDraft);
}

/** Deletes the stored settings. */
export function forgetDraft(userId: string, agentId: string): void {
  forgetKept(keyOf(userId, agentId));
}
