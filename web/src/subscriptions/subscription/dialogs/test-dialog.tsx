import type { Delivery, Subscription, TestSubscriptionBody } from "@beckon/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, useIdempotencyKey, useWorkspace } from "../../../data/index.ts";
import {
  Button,
  Dialog,
  Duration,
  Field,
  FormError,
  Link,
  Select,
  useLateFailure,
} from "../../../ui/index.ts";
import { DeliveryMark } from "../../delivery-mark.tsx";
import { NextAttempt } from "../../next-attempt.tsx";
import { deliveryQuery, subscriptionKey } from "../../queries.ts";

interface TestDialogProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

/** Time between two polls while a person waits for the result of a test. */
const pollMs = 500;

/** Sends an example event, and shows what the receiver responds. */
export function TestDialog({ subscription, close }: TestDialogProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf, release } = useIdempotencyKey();
  const { event_types: types } = subscription;
  const [type, setType] = useState(types[0] ?? "");
  const showLateFailure = useLateFailure("Send test");
  const test = useMutation({
    mutationFn: () => {
      const body = { type: type as NonNullable<TestSubscriptionBody["type"]> };
      return client.subscriptions.test(subscription.id, body, {
        idempotencyKey: keyOf(body),
      });
    },
    onSuccess: () => {
      // The next test gets a new idempotency key, even if it sends the same event.
      release();
      return announceChanges(queryClient, subscriptionKey(id, subscription.id));
    },
    onError: showLateFailure,
  });
  return (
    <Dialog
      open
      onOpenChange={close}
      title="Send a test"
      description="The receiver gets an example of the event, marked as a test. It is signed as any other delivery."
      footer={
        <>
          <Button onClick={close}>Close</Button>
          <Button
            variant="primary"
            onClick={() => test.mutate()}
            pending={test.isPending}
            pendingText="Sending…"
          >
            {test.isSuccess ? "Send again" : "Send test"}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Field label="Event">
          <Select
            value={type}
            onChange={({ target }) => setType(target.value)}
            options={types.map((each) => ({ value: each, label: each }))}
          />
        </Field>
        {/* This element is as high as a result, so that nothing moves when the result appears. */}
        <div role="status" className="min-h-16">
          {test.data === undefined || test.isPending ? (
            <p className="text-ink-3">The response of the receiver appears here.</p>
          ) : (
            <TestResult key={test.data.id} sent={test.data} />
          )}
        </div>
        <FormError error={test.error} />
      </div>
    </Dialog>
  );
}

function TestResult({ sent }: { readonly sent: Delivery }) {
  const workspace = useWorkspace();
  const { data } = useQuery({
    ...deliveryQuery(workspace, sent.subscription_id, sent.id),
    refetchInterval: ({ state }) =>
      state.data === undefined || (state.data.status === "pending" && state.data.attempts < 2)
        ? pollMs
        : false,
  });
  const delivery = data ?? sent;
  const last = data?.attempts_log[0];
  return (
    <div className="flex min-w-0 flex-col gap-1 rounded-control border border-rule px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3">
        <span className="flex-1">
          <DeliveryMark delivery={delivery} />
        </span>
        <Link
          href={`/w/${workspace.id}/subscriptions/${sent.subscription_id}/deliveries/${sent.id}`}
        >
          Open the delivery
        </Link>
      </div>
      <p className="text-ink-2">
        {last === undefined ? (
          "Waiting for the receiver."
        ) : last.error === null ? (
          <>
            {`The receiver responded with status ${last.status} in `}
            <Duration ms={last.duration_ms} />.
          </>
        ) : (
          <bdi>{last.error}</bdi>
        )}
        {delivery.next_attempt_at !== null && last !== undefined ? (
          <>
            {" The next attempt is "}
            <NextAttempt time={delivery.next_attempt_at} />.
          </>
        ) : null}
      </p>
    </div>
  );
}
