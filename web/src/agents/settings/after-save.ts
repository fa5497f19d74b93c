import { rebase } from "../../data/form/rebase.ts";
import { isEqual } from "../../ui/overlay/merge.ts";
import type { SettingsDraft } from "./draft-store.ts";
import type { AgentFields, Tool, VersionedFields } from "./fields.ts";
import { type FormValues, valuesOf } from "./form-values.ts";
import { type ToolsByKey, toMergeable } from "./tools/mergeable.ts";

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
  const before = valuesOf(base);
  const now = valuesOf(saved);
  const fields = rebase<FormValues>({ base: before, saved: now, sent, typed });
  const tools = rebase<ToolsByKey>({
    base: byKey(base),
    saved: byKey(saved),
    sent: byKey(sent),
    typed: byKey(typed),
  });
  const kept = Object.entries(base).filter(
    ([name]) => !isEqual(fields.base[name as keyof FormValues], now[name as keyof FormValues]),
  );
  const next = { ...saved, ...Object.fromEntries(kept), tools: listOf(tools.base) };
  return {
    base: isEqual({ ...next, version: saved.version }, saved)
      ? saved
      : { ...next, version: base.version },
    values: { ...fields.typed, tools: listOf(tools.typed) },
  };
}

const byKey = ({ tools }: Pick<AgentFields, "tools">) => toMergeable({ tools }).tools;
const listOf = (tools: Readonly<Record<string, Tool | undefined>>): readonly Tool[] =>
  Object.values(tools).filter((tool) => tool !== undefined);
