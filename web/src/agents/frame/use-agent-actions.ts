import type { Agent } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  announceChanges,
  failureWords,
  sentenceOf,
  storedIdempotencyKey,
  useMe,
  useWorkspace,
} from "../../data/index.ts";
import { download } from "../../json/index.ts";
import { useNavigateFrom, useToast } from "../../ui/index.ts";
import { fileNameOf } from "../file-name.ts";
import { agentQuery, agentsKey } from "../queries.ts";

/**
 * Returns the actions that the header of an agent offers. Failures are shown in a toast, except
 * those of `remove`: it rejects, so that its dialog shows the error.
 */
export function useAgentActions(agent: Agent) {
  const workspace = useWorkspace();
  const { id: workspaceId, client } = workspace;
  const queryClient = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const path = (agentId: string) => `/w/${workspaceId}/agents/${agentId}`;
  const tellOthers = () => announceChanges(queryClient, agentsKey(workspaceId));
  const key = storedIdempotencyKey(useMe().id, `duplicate.${agent.id}`);
  /**
   * Returns the error handler of a call.
   * @param done a participle for what the call does: "resumed"
   * @param again what another attempt does, for an outcome that is not known
   */
  const failed = (done: string, again: string) => (thrown: unknown) =>
    toast({
      tone: "failure",
      ...failureWords(thrown, `The agent was not ${done}.`, `the agent was ${done}`, again),
    });

  const resume = useMutation({
    mutationFn: () => client.agents.resume(agent.id),
    onSuccess: (resumed) => {
      queryClient.setQueryData(agentQuery(workspace, agent.id).queryKey, resumed);
      toast(
        resumed.paused
          ? { tone: "warning", title: "Resumed, but its ceiling still pauses it." }
          : { tone: "success", title: "Resumed: new runs are accepted." },
      );
      return tellOthers();
    },
    onError: failed("resumed", "Press Resume again: resuming it twice does no harm."),
  });

  const duplicate = useMutation({
    onMutate: () => navigateFrom(),
    mutationFn: () =>
      client.agents.duplicate(agent.id, {}, { idempotencyKey: key.keyOf(agent.version) }),
    onSuccess: async (copy, _, navigate) => {
      key.release();
      toast({
        tone: "success",
        title: `Created ${copy.name}`,
        description: "It has a token of its own and no triggers.",
      });
      await tellOthers();
      // This is not awaited: it never resolves if the person stays because of unsaved changes.
      void navigate({ href: path(copy.id) });
    },
    onError: failed(
      "duplicated",
      "Duplicate it again before you change it: it is duplicated once only.",
    ),
  });

  const save = useMutation({
    mutationFn: async (format: "yaml" | "json") =>
      download(
        `${fileNameOf(agent.name)}.${format}`,
        format === "yaml"
          ? await client.agents.exportYaml(agent.id)
          : `${JSON.stringify(await client.agents.export(agent.id), null, 2)}\n`,
        `application/${format}`,
      ),
    onError: (thrown) =>
      toast({
        tone: "failure",
        title: "The agent was not exported.",
        description: sentenceOf(thrown),
      }),
  });

  const restore = async () => {
    const navigate = navigateFrom();
    try {
      const restored = await client.agents.restore(agent.id);
      toast({
        tone: "success",
        title: `Restored ${restored.name}`,
        description: "It has no API token, and its triggers are disabled.",
      });
      await tellOthers();
      void navigate({ href: path(agent.id) });
    } catch (thrown) {
      failed("restored", "Open the list of deleted agents: a restored agent is not in it.")(thrown);
    }
  };

  return {
    resume: () => resume.mutate(),
    isResuming: resume.isPending,
    duplicate: () => duplicate.mutate(),
    save: (format: "yaml" | "json") => save.mutate(format),
    /** @throws BeckonError */
    remove: async () => {
      const navigate = navigateFrom(path(agent.id));
      await client.agents.delete(agent.id);
      // Unsaved settings of a deleted agent cannot be saved, so the form must not ask about them.
      await navigate({ href: `/w/${workspaceId}/agents`, ignoreBlocker: true });
      queryClient.removeQueries({ queryKey: agentQuery(workspace, agent.id).queryKey });
      await tellOthers();
      toast({
        tone: "success",
        title: `Deleted ${agent.name}`,
        description: "You can restore it for 30 days.",
        action: { label: "Undo", onPress: () => void restore() },
      });
    },
  };
}
