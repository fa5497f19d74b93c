import type { Trigger } from "@beckon/client";
import { rebase } from "../../data/form/rebase.ts";
import { isEqual } from "../../ui/overlay/merge.ts";
import { type Draft, draftOf } from "./draft.ts";
import { check } from "./validate.ts";

/** Unsaved settings. */
export interface Edited {
  readonly draft: Draft;
  /**
   * The trigger that the form showed when the person began to edit. If someone else changes the
   * trigger after that, `useTriggerPatch` merges both changes: this is their common base.
   */
  readonly base: Trigger;
}

/**
 * Returns what is still unsaved after a save, and on what it is based (see `rebase`); undefined if
 * nothing was edited since.
 * @param sent the settings in the form when it was sent
 */
export function afterSave({ draft, base }: Edited, saved: Trigger, sent: Draft) {
  if (isEqual(draft, sent)) return undefined;
  const now = draftOf(saved.prompt_prefix, saved.receiving);
  const before = draftOf(base.prompt_prefix, base.receiving);
  const next = rebase<Draft>({ base: before, saved: now, sent, typed: draft });
  if (isEqual(next.base, now)) return { base: saved, draft: next.typed };
  const checked = check(next.base);
  // Two versions that are valid can be invalid in parts. Then the next save merges all of both.
  if (!("settings" in checked)) return { base, draft };
  return { base: { ...saved, ...checked.settings, version: base.version }, draft: next.typed };
}
