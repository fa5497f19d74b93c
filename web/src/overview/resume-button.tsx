import { useMutation, useQueryClient } from "@tanstack/react-query";
import { agentsKey } from "../agents/index.ts";
import { announceChanges, failureWords, useWorkspace } from "../data/index.ts";
import { Button, useToast } from "../ui/index.ts";

interface ResumeButtonProps {
  readonly agentId: string;
  readonly name: string;
}

/** A button that resumes a paused agent. */
export function ResumeButton({ agentId, name }: ResumeButtonProps) {
  const { id, client, whyNot } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const resume = useMutation({
    mutationFn: () => client.agents.resume(agentId),
    onSuccess: ({ paused }) => {
      toast({
        tone: paused ? "warning" : "success",
        title: `Resumed ${name}`,
        description: paused ? "Its ceiling still pauses it." : "New runs are accepted.",
      });
      return announceChanges(queryClient, agentsKey(id));
    },
    onError: (thrown) =>
      toast({
        tone: "failure",
        ...failureWords(
          thrown,
          `${name} was not resumed.`,
          "it was resumed",
          "Press Resume again: resuming it twice does no harm.",
        ),
      }),
  });
  return (
    <Button
      size="small"
      onClick={() => resume.mutate()}
      pending={resume.isPending}
      pendingText="Resuming…"
      aria-label={`Resume ${name}`}
      disabledReason={whyNot("agents:write")}
    >
      Resume
    </Button>
  );
}
