import type { VersionedFields } from "./fields.ts";
import { type FormValues, isUnsaved } from "./form-values.ts";
import { withoutNewSecrets } from "./tools/secrets.ts";

/** Unsaved settings, with the version of the agent that they change. */
export interface SettingsDraft {
  readonly base: VersionedFields;
  readonly values: FormValues;
}

const keyOf = (agentId: string) => `beckon.settings.${agentId}`;

/** Keeps unsaved settings in this tab until they are saved. New secrets are left out. */
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

/** Drops the settings that were not saved. */
export function forgetDraft(agentId: string): void {
  sessionStorage.removeItem(keyOf(agentId));
}

/** Without space in the storage nothing is kept; leaving the page asks in any case. */
function write(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    sessionStorage.removeItem(key);
  }
}
