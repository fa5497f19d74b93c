import type { Trigger, UpdateTriggerBody } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import {
  announceChanges,
  isOutcomeUnknown,
  storedAttempt,
  useMe,
  useWorkspace,
} from "../../data/index.ts";
import { useNavigateFrom, useToast } from "../../ui/index.ts";
import { triggerQuery, triggersKey, triggersQuery } from "../queries.ts";

/** Returns the actions on a trigger. Each of them throws a BeckonError if it fails. */
export function useTriggerActions({ id, agent_id, name }: Trigger) {
  const workspace = useWorkspace();
  const { triggers } = workspace.client;
  const queryClient = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const rotation = storedAttempt(useMe().id, `rotate.${id}`);
  const { queryKey } = triggerQuery(workspace, agent_id, id);
  const tellOthers = () => announceChanges(queryClient, triggersKey(workspace.id, agent_id));
  return {
    /**
     * Changes the name or a switch of the trigger. It sends no If-Match, so the last change wins.
     * For all other settings use `useTriggerPatch`: it sends If-Match, and the server rejects the
     * change if someone else has changed the trigger in the meantime.
     */
    update: async (changes: Omit<UpdateTriggerBody, "prompt_prefix" | "receiving">) => {
      try {
        const { warnings: _, ...updated } = await triggers.update(agent_id, id, changes);
        queryClient.setQueryData(queryKey, updated);
        void tellOthers();
        return updated;
      } catch (thrown) {
        // If the response was lost, the change may have been made, so the trigger is refetched.
        if (isOutcomeUnknown(thrown)) void tellOthers();
        throw thrown;
      }
    },
    reveal: async () => {
      const { url } = await triggers.reveal(agent_id, id);
      // If the response of a rotation was lost, the person now has its URL.
      rotation.release();
      return url;
    },
    remove: async () => {
      const list = `/w/${workspace.id}/agents/${agent_id}/triggers`;
      const navigate = navigateFrom(`${list}/${id}`);
      await triggers.delete(agent_id, id);
      // The trigger is removed from the cached list before the page navigates to the list. On wide
      // screens, the list opens its first trigger at once, which must not be the deleted one.
      queryClient.setQueryData(
        triggersQuery(workspace, agent_id).queryKey,
        (rows) =>
          rows && {
            ...rows,
            pages: rows.pages.map((page) => ({
              ...page,
              data: page.data.filter((trigger) => trigger.id !== id),
            })),
          },
      );
      await navigate({
        href: list,
        replace: true,
        // Unsaved changes of a deleted trigger cannot be saved, so `LeaveGuard` must not ask
        // whether to discard them.
        ignoreBlocker: true,
      });
      queryClient.removeQueries({ queryKey });
      await tellOthers();
      toast({ tone: "success", title: `Deleted ${name}` });
    },
  };
}
