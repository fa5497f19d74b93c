import type { VersionedFields } from "./fields.ts";
import { type FormValues, isUnsaved } from "./form-values.ts";
import { withoutNewSecrets } from "./tools/secrets.ts";

/** Unsaved settings, with the version of the agent on which they are based. */
export interface SettingsDraft {
  readonly base: VersionedFields;
  readonly values: FormValues;
}

/**
 * The key contains a number, which is raised when stored values change their meaning. So an older
 * draft is not read: its cost of a run would be in micro-dollars and not in dollars.
 */
const keyOf = (agentId: string) => `beckon.settings.2.${agentId}`;

/**
 * Stores unsaved settings for this tab, until they are saved or discarded. New secrets are not
 * stored.
 */
export function storeDraft(agentId: string, { base, values }: SettingsDraft): void {
  if (!isUnsaved(values, base)) {
    forgetDraft(agentId);
    return;
  }
  const kept = { ...values, tools: values.tools.map(withoutNewSecrets) };
  write(keyOf(agentId), JSON.stringify({ base, values: kept }));
}

/** Returns the settings that were not saved; undefined if there are none. */
export function readDraft(agentId: string): SettingsDraft | undefined {
  const text = sessionStorage.getItem(keyOf(agentId));
  return text === null ? undefined : (JSON.parse(text) as SettingsDraft);
}

/** Deletes the stored settings. */
export function forgetDraft(agentId: string): void {
  sessionStorage.removeItem(keyOf(agentId));
}

/** Stores a text. If the storage is full, nothing is stored, and an earlier text is deleted. */
function write(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    sessionStorage.removeItem(key);
  }
}
