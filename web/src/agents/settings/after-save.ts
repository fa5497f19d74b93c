import { rebase } from "../../data/form/rebase.ts";
import type { SettingsDraft } from "./draft-store.ts";
import type { AgentFields, Tool, VersionedFields } from "./fields.ts";
import { changesIn, type FormValues, valuesOf } from "./form-values.ts";
import { toMergeable } from "./tools/mergeable.ts";

/** The settings and the values of their form when a save has succeeded; see `rebase`. */
export interface SavedSettings {
  readonly base: VersionedFields;
  readonly saved: VersionedFields;
  readonly sent: FormValues;
  readonly typed: FormValues;
}

/**
 * Returns what the form shows after a save, and the settings on which its next changes are based.
 * Each tool counts as a field. So a tool that someone else has added is not removed by an edit of
 * another one.
 */
export function afterSave({ base, saved, sent, typed }: SavedSettings): SettingsDraft {
  const fields = rebase({ base: valuesOf(base), saved: valuesOf(saved), sent, typed });
  const tools = rebase({
    base: byKey(base),
    saved: byKey(saved),
    sent: byKey(sent),
    typed: byKey(typed),
  });
  const kept = changesIn({ ...fields.base, tools: listOf(tools.base) }, saved);
  return {
    base: Object.keys(kept).length === 0 ? saved : { ...saved, ...kept, version: base.version },
    values: { ...fields.typed, tools: listOf(tools.typed) },
  };
}

const byKey = ({ tools }: Pick<AgentFields, "tools">) => toMergeable({ tools }).tools;
const listOf = (tools: Readonly<Record<string, Tool | undefined>>): readonly Tool[] =>
  Object.values(tools).filter((tool) => tool !== undefined);
