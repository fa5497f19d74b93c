import type { Agent } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { type UseFormReturn, useForm } from "react-hook-form";
import {
  announceChanges,
  codeOf,
  failureWords,
  fillIn,
  notSavedText,
  type PatchState,
  sentenceOf,
  useMe,
  usePatch,
  useWorkspace,
} from "../../data/index.ts";
import { useToast } from "../../ui/index.ts";
import { agentQuery, agentsKey } from "../queries.ts";
import { afterSave, type SavedSettings } from "./after-save.ts";
import { forgetDraft, readDraft, storeDraft } from "./draft-store.ts";
import { type AgentFields, bodyOf, fieldAt, fieldsOf, type VersionedFields } from "./fields.ts";
import { changesIn, checkSettings, type FormValues, isUnsaved, valuesOf } from "./form-values.ts";
import { fromMergeable, type Mergeable, toMergeable } from "./tools/mergeable.ts";

type SavingState = PatchState<Mergeable<VersionedFields>, Mergeable<AgentFields>>;

/** The state of an agent's settings while they are edited. */
export interface AgentSettings {
  readonly form: UseFormReturn<FormValues>;
  /** The saved settings on which the form is based. */
  readonly base: VersionedFields;
  /**
   * The newest version that this tab has read. If it is above `base.version`, someone else has
   * saved.
   */
  readonly newestVersion: number;
  /** Why the person cannot edit; undefined if they can. */
  readonly disabledReason: string | undefined;
  readonly state: SavingState;
  /** Why saving failed; undefined if it did not fail, or if a field shows the error. */
  readonly problem: string | undefined;
  readonly save: () => void;
  /** Saves the merged settings after a conflict. */
  readonly resolve: (merged: object) => void;
  readonly cancelMerge: () => void;
  readonly discard: () => void;
  /** Returns the unsaved changes, for a draft run; undefined if the form has an error. */
  readonly collect: () => Promise<Partial<AgentFields> | undefined>;
}

/**
 * Returns the state of the agent's settings. Unsaved changes that this tab has stored are restored.
 */
export function useAgentSettings(agent: Agent): AgentSettings {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { client, can, whyNot } = workspace;
  const { id: userId } = useMe();
  const [draft] = useState(() => (can("agents:write") ? readDraft(userId, agent.id) : undefined));
  const [base, setBase] = useState(() => draft?.base ?? fieldsOf(agent));
  const filledIn = useRef(base);
  // The values of the form when Save was pressed, and the settings on which they were based. After
  // a conflict, `resolve` needs them too: what was typed since then is not in the merged settings.
  const sent = useRef<Pick<SavedSettings, "base" | "sent">>(undefined);
  const [problem, setProblem] = useState<string>();
  const form = useForm<FormValues>({
    resolver: (values) => checkSettings(values, filledIn.current),
    defaultValues: valuesOf(base),
    mode: "onTouched",
    // React Hook Form must not focus the first invalid field, because it can be in a closed
    // section. `SettingsForm` opens the section first and focuses the field then.
    shouldFocusError: false,
  });

  const remember = (read: Agent): VersionedFields => {
    queryClient.setQueryData(agentQuery(workspace, agent.id).queryKey, read);
    return fieldsOf(read);
  };
  const patch = usePatch<Mergeable<VersionedFields>, Mergeable<AgentFields>>({
    read: async () => toMergeable(remember(await client.agents.get(agent.id))),
    write: async (changes, ifMatch) => {
      const body = bodyOf(fromMergeable<Partial<AgentFields>>(changes));
      return toMergeable(remember(await client.agents.update(agent.id, body, { ifMatch })));
    },
    onRead: () => {},
    parts: ["tools"],
  });

  /**
   * Fills in the form with saved settings. Edits are then compared with these settings.
   * @param values what the form shows instead. Default: all edits are discarded.
   */
  const show = (fields: VersionedFields, values?: FormValues) => {
    setBase(fields);
    filledIn.current = fields;
    fillIn(form, valuesOf(fields));
    if (values !== undefined) form.reset(values, { keepDefaultValues: true });
    storeDraft(userId, agent.id, { base: fields, values: form.getValues() });
  };

  const { isDirty } = form.formState;
  // Compares the values themselves, because `isDirty` is not true yet while a stored draft is being
  // restored.
  const hasChanges = () => isUnsaved(form.getValues(), base);
  const isBusy = patch.state.name === "saving" || patch.state.name === "unknown";

  const restore = useEffectEvent(() => {
    if (draft === undefined) return;
    form.reset(draft.values, { keepDefaultValues: true });
    void form.trigger();
  });
  useEffect(() => restore(), []);

  // If someone else has saved and nothing here is unsaved, the form shows the new version at once.
  // It also does if the new version has what is unsaved here: this tab can have saved it before the
  // person left the settings and came back.
  const follow = useEffectEvent(() => {
    if (agent.version <= base.version || isBusy) return;
    const fields = fieldsOf(agent);
    if (!hasChanges() || !isUnsaved(form.getValues(), fields)) show(fields);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: checks again for each new version
  useEffect(() => follow(), [agent.version, isDirty]);

  const store = useEffectEvent(() =>
    storeDraft(userId, agent.id, { base, values: form.getValues() }),
  );
  useEffect(() => form.subscribe({ formState: { values: true }, callback: () => store() }), [form]);

  const finish = async (saving: Promise<SavingState>) => {
    const { pathname } = location;
    const next = await saving;
    if (next.name === "saved" && sent.current !== undefined) {
      const saved = fromMergeable<VersionedFields>(next.resource);
      const shown = afterSave({ ...sent.current, saved, typed: form.getValues() });
      show(shown.base, shown.values);
      void announceChanges(queryClient, agentsKey(workspace.id));
    }
    if (next.name !== "failed" && next.name !== "not saved") return;
    const [failure, field] =
      next.name === "failed"
        ? [wordsOf(next.thrown), fieldOf(next.thrown)]
        : [{ title: failed, description: notSavedText }];
    if (field === undefined) setProblem(failure.description);
    else form.setError(field, { type: "server", message: failure.description });
    // On a phone, the playground does not show the form. So the form alone would not announce a
    // failure if another screen was opened in the meantime.
    if (location.pathname !== pathname) toast({ tone: "failure", ...failure });
  };

  const save = form.handleSubmit(async (values) => {
    setProblem(undefined);
    sent.current = { base, sent: values };
    const changes = changesIn(values, base);
    if (Object.keys(changes).length === 0) show(base);
    else await finish(patch.save(toMergeable(base), toMergeable(changes)));
  });

  return {
    form,
    base,
    newestVersion: Math.max(agent.version, base.version),
    disabledReason: whyNot("agents:write"),
    state: patch.state,
    problem,
    save: () => void save(),
    resolve: (merged) => void finish(patch.resolve(merged)),
    cancelMerge: patch.reset,
    discard: () => {
      setProblem(undefined);
      patch.reset();
      forgetDraft(userId, agent.id);
      show(fieldsOf(agent));
    },
    collect: async () => {
      // A newer version can fill in the form during the validation below. So the values and the
      // version on which they are based are read together, before the validation. The version comes
      // from `filledIn`, because `base` changes only with the next rendering.
      const values = form.getValues();
      const basedOn = filledIn.current;
      let isValid = false;
      await form.handleSubmit(() => {
        isValid = true;
      })();
      return isValid ? changesIn(values, basedOn) : undefined;
    },
  };
}

const failed = "The settings were not saved.";

/** Returns the title and the description of a failed save. */
const wordsOf = (thrown: unknown) =>
  failureWords(
    thrown,
    failed,
    "the settings were saved",
    "Press Save again: saving them twice does no harm.",
  );

/**
 * Returns the form field that an error of the API names at the beginning of its message; undefined
 * if it names none.
 */
function fieldOf(thrown: unknown): keyof AgentFields | undefined {
  if (codeOf(thrown) !== "bad_request") return undefined;
  const [path = ""] = /^[a-z_]+(\.[\w-]+)*(?=:? )/.exec(sentenceOf(thrown)) ?? [];
  return fieldAt(path.split("."));
}
