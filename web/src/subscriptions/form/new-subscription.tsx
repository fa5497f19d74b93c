import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  announceChanges,
  announceIfOutdated,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import { subscriptionsKey } from "../list-query.ts";
import { IssuedSecret } from "../secret/issued-secret.tsx";
import { bodyOf, newSubscription, type SubscriptionFields } from "./subscription-fields.ts";
import { SubscriptionForm } from "./subscription-form.tsx";

interface NewSubscriptionProps {
  /** Called with the id of the subscription if one was created. */
  readonly close: (created?: string) => void;
}

/** Creates a subscription and shows its secret. */
export function NewSubscription({ close }: NewSubscriptionProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf } = useIdempotencyKey();
  const create = useMutation({
    mutationFn: (fields: SubscriptionFields) => {
      const body = bodyOf(fields);
      return client.subscriptions.create(body, { idempotencyKey: keyOf(body) });
    },
    // Does not wait for the refetch, so that the secret is shown at once.
    onSuccess: () => void announceChanges(queryClient, subscriptionsKey(id)),
    onError: (thrown) => void announceIfOutdated(queryClient, thrown, subscriptionsKey(id)),
  });
  if (create.isSuccess)
    return (
      <IssuedSecret
        title="The subscription is created"
        secret={create.data.secret}
        format={create.data.format}
        close={() => close(create.data.id)}
      />
    );
  return (
    <SubscriptionForm
      title="New subscription"
      submitLabel="Create subscription"
      pendingText="Creating…"
      retry="Press Create subscription again without changes: it is created once only."
      initial={newSubscription}
      save={create}
      isSaved={create.isSuccess}
      close={() => close()}
    />
  );
}
