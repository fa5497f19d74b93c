import type { Trigger } from "@beckon/client";
import type { ReceivedRequestDetails } from "@beckon/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Redo2, SlidersHorizontal, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  announceChanges,
  failureWords,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import {
  Button,
  ConfirmDialog,
  LinkButton,
  Menu,
  useNavigateFrom,
  useToast,
} from "../../ui/index.ts";
import { whyNoRun } from "../permission.ts";
import { hasFailed, whyNotReplayed } from "./outcomes.ts";
import { requestQuery, requestsKey } from "./queries.ts";

interface RequestActionsProps {
  readonly trigger: Trigger;
  readonly request: ReceivedRequestDetails;
}

/** What can be done with a received request. */
export function RequestActions({ trigger, request }: RequestActionsProps) {
  const { id, client, whyNot } = useWorkspace();
  const queryClient = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const { keyOf, release } = useIdempotencyKey();
  const { agent_id } = trigger;
  const replay = useMutation({
    onMutate: () => navigateFrom(),
    mutationFn: (version: "current" | "original") =>
      client.triggers.replayRequest(
        agent_id,
        trigger.id,
        request.id,
        { version },
        { idempotencyKey: keyOf([request.id, version]) },
      ),
    onSuccess: (run, _, navigate) => {
      release();
      toast({ tone: "success", title: "The request was replayed as a new run." });
      void navigate({ href: `/w/${id}/runs/${run.id}` });
    },
    onError: (thrown) =>
      toast({
        tone: "failure",
        ...failureWords(
          thrown,
          "The request was not replayed.",
          "the request was replayed",
          "Replay it with the same version: it is replayed once only.",
        ),
      }),
    onSettled: () => announceChanges(queryClient, requestsKey(id, trigger)),
  });
  const disabledReason = whyNoRun(whyNot) ?? whyNotReplayed(request);
  const button = (
    <Button
      variant={hasFailed(request) ? "primary" : "secondary"}
      icon={Redo2}
      pending={replay.isPending}
      pendingText="Replaying…"
      disabledReason={disabledReason}
    >
      Replay
    </Button>
  );
  return (
    <>
      {request.body === null || trigger.receiving === null ? null : (
        <LinkButton
          icon={SlidersHorizontal}
          href={`/w/${id}/agents/${agent_id}/triggers/${trigger.id}/settings?request=${request.id}`}
        >
          Use in preview
        </LinkButton>
      )}
      {disabledReason !== undefined || replay.isPending ? (
        button
      ) : (
        <Menu
          label="Replay"
          trigger={button}
          items={[
            {
              label: "With the current version",
              onSelect: () => replay.mutate("current"),
            },
            {
              label: "With the original version",
              onSelect: () => replay.mutate("original"),
            },
          ]}
        />
      )}
      <DeleteRequest trigger={trigger} request={request} />
    </>
  );
}

/** The button that deletes a received request, after a confirmation. */
function DeleteRequest({ trigger, request }: RequestActionsProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        icon={Trash2}
        disabledReason={workspace.whyNot("triggers:write")}
        onClick={() => setIsOpen(true)}
      >
        Delete
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setIsOpen}
        title="Delete this request?"
        effect={
          request.run_id === null
            ? "Its query, headers and body are deleted, too. This cannot be undone."
            : "Its query, headers and body are deleted, too. Its run stays. This cannot be undone."
        }
        confirmLabel="Delete request"
        pendingText="Deleting…"
        onConfirm={async () => {
          const navigateHere = navigateFrom();
          const { client, id } = workspace;
          await client.triggers.deleteRequest(trigger.agent_id, trigger.id, request.id);
          toast({ tone: "success", title: "Request deleted." });
          await navigateHere({
            href: `/w/${id}/agents/${trigger.agent_id}/triggers/${trigger.id}`,
          });
          queryClient.removeQueries({
            queryKey: requestQuery(workspace, trigger, request.id).queryKey,
          });
          void announceChanges(queryClient, requestsKey(id, trigger));
        }}
      />
    </>
  );
}
