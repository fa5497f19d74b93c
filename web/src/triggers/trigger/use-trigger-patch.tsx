import type { Trigger, UpdateTriggerBody } from "@beckon/client";
import type { TriggerWarning } from "@beckon/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  announceChanges,
  type PatchState,
  savedResource,
  usePatch,
  useWorkspace,
} from "../../data/index.ts";
import { MergeDialog } from "../../ui/index.ts";
import { triggerQuery, triggersKey } from "../queries.ts";

type Changes = Pick<UpdateTriggerBody, "prompt_prefix" | "receiving">;

const parts = ["receiving"] as const;

/** Labels of the fields in the dialog that asks which value to keep. */
const labels = {
  prompt_prefix: "Prompt prefix",
  receiving: "Settings",
  "receiving.preset": "Sender",
  "receiving.verification": "Verification",
  "receiving.allowed_addresses": "Allowed addresses",
  "receiving.event_id": "Event id",
  "receiving.event_id_days": "Days for which an event id is known",
  "receiving.event_type": "Event type",
  "receiving.handshake": "Handshake",
  "receiving.bodies": "Bodies",
  "receiving.headers": "Headers",
  "receiving.query": "Query parameters",
  "receiving.filter": "Filter",
  "receiving.template": "Message template",
  "receiving.when_paused": "While paused",
  "receiving.when_disabled": "While disabled",
  "receiving.max_per_minute": "Requests per minute",
  "receiving.form": "Web forms",
};

/** What the server found in the saved settings, for example when it applied them to a request. */
interface Warnings {
  /** The version of the trigger that the warnings are about. */
  readonly version: string;
  readonly warnings: readonly TriggerWarning[];
}

/**
 * Saves the settings of a trigger with If-Match. If someone else has changed the same settings
 * since `base` was read, `dialog` asks which values to keep.
 * @param onSaved called with the saved trigger, which also contains the changes of other people.
 */
export function useTriggerPatch(
  { id, agent_id }: Trigger,
  { onSaved }: { readonly onSaved: (saved: Trigger) => void },
) {
  const workspace = useWorkspace();
  const { triggers } = workspace.client;
  const queryClient = useQueryClient();
  const [warnings, setWarnings] = useState<Warnings>();
  const patch = usePatch<Trigger, Changes>({
    read: () => triggers.get(agent_id, id),
    write: async (changes, ifMatch) => {
      const { warnings, ...saved } = await triggers.update(agent_id, id, changes, {
        ifMatch,
      });
      setWarnings({ version: saved.version, warnings });
      return saved;
    },
    onRead: (read) =>
      queryClient.setQueryData(triggerQuery(workspace, agent_id, id).queryKey, read),
    parts,
  });
  const finish = (next: PatchState<Trigger, Changes>) => {
    const saved = savedResource(next);
    if (saved === undefined) return;
    onSaved(saved);
    void announceChanges(queryClient, triggersKey(workspace.id, agent_id));
  };
  const save = useMutation({
    mutationFn: async ({ base, changes }: { base: Trigger; changes: Changes }) =>
      finish(await patch.save(base, changes)),
  });
  const merge = useMutation({
    mutationFn: async (merged: object) => finish(await patch.resolve(merged)),
  });
  const { state } = patch;
  return {
    /** @param base the trigger as it was read before the person changed it in the form */
    save: (base: Trigger, changes: Changes) => {
      merge.reset();
      save.mutate({ base, changes });
    },
    isSaving: save.isPending || merge.isPending,
    isSaved: state.name === "saved",
    error: merge.error ?? save.error,
    reset: () => {
      save.reset();
      merge.reset();
      patch.reset();
    },
    warnings,
    dialog:
      state.name === "conflict" ? (
        <MergeDialog
          noun="trigger"
          base={{ ...state.base }}
          theirs={{ ...state.theirs }}
          yours={{ ...state.base, ...state.yours }}
          parts={parts}
          labels={labels}
          onMerge={(merged) => merge.mutate(merged)}
          onCancel={patch.reset}
        />
      ) : null,
  };
}
