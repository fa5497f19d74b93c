import type { Subscription, UpdateSubscriptionBody } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { announceChanges, savedResource, usePatch, useWorkspace } from "../../data/index.ts";
import { MergeDialog, useToast } from "../../ui/index.ts";
import { subscriptionsKey } from "../list-query.ts";
import { subscriptionQuery } from "../queries.ts";
import { requireSameServer, withoutGivenUp } from "./merged-changes.ts";
import { changesFor, fieldsOf, patchBody, type SubscriptionFields } from "./subscription-fields.ts";
import { SubscriptionForm } from "./subscription-form.tsx";

interface EditSubscriptionProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

const labels = {
  url: "URL",
  description: "Description",
  event_types: "Events",
  agent_ids: "Agents",
  trigger_ids: "Triggers",
  tags: "Tags",
  payload: "Payload",
  format: "Format",
};

/** Changes a subscription. Later attempts of all its deliveries use the saved values. */
export function EditSubscription({ subscription, close }: EditSubscriptionProps) {
  const workspace = useWorkspace();
  const { subscriptions } = workspace.client;
  const queryClient = useQueryClient();
  const toast = useToast();
  // Keeps the version with which the form was opened, because the page can fetch newer ones while
  // the form is open.
  const [base] = useState(subscription);
  const [isSaved, setSaved] = useState(false);
  /** The URL for which the secret and the headers that are being saved were entered. */
  const url = useRef(base.url);
  const patch = usePatch<Subscription, UpdateSubscriptionBody>({
    read: () => subscriptions.get(base.id),
    write: async (changes, ifMatch, before) => {
      requireSameServer(changes, before, { base, url: url.current });
      return subscriptions.update(base.id, patchBody(changes, before), { ifMatch });
    },
    onRead: (read) =>
      queryClient.setQueryData(subscriptionQuery(workspace, base.id).queryKey, read),
  });
  const finish = async (next: typeof patch.state) => {
    if (savedResource(next) === undefined) return;
    setSaved(true);
    toast({ tone: "success", title: "Saved the subscription" });
    await announceChanges(queryClient, subscriptionsKey(workspace.id));
  };
  const save = useMutation({
    mutationFn: async (fields: SubscriptionFields) => {
      url.current = fields.url;
      await finish(await patch.save(base, changesFor(base, fields)));
    },
  });
  const { state } = patch;
  const merge = useMutation({
    mutationFn: async (merged: Readonly<Record<string, unknown>>) => {
      if (state.name !== "conflict") return;
      const chosen = withoutGivenUp(merged, state.theirs, state.yours);
      await finish(await patch.resolve(chosen));
    },
  });
  return (
    <>
      <SubscriptionForm
        title="Edit the subscription"
        submitLabel="Save subscription"
        pendingText="Saving…"
        retry="Press Save subscription again: saving it twice does no harm."
        existing={base}
        initial={fieldsOf(base)}
        save={{
          mutate: (fields) => {
            merge.reset();
            save.mutate(fields);
          },
          error: merge.error ?? save.error,
          isPending: save.isPending || merge.isPending,
        }}
        isSaved={isSaved}
        close={close}
      />
      {state.name === "conflict" ? (
        <MergeDialog
          noun="subscription"
          base={{ ...state.base }}
          theirs={{ ...state.theirs }}
          yours={{ ...state.base, ...state.yours }}
          labels={labels}
          onMerge={(merged) => merge.mutate(merged)}
          onCancel={patch.reset}
        />
      ) : null}
    </>
  );
}
