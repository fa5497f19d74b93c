import type { Subscription } from "@beckon/client";
import { RotateCw } from "lucide-react";
import { storedAttempt, useMe, useWorkspace } from "../../data/index.ts";
import { Button, Panel, SecretField, Time } from "../../ui/index.ts";
import { useSubscriptionSearch } from "./search.ts";

/** The secret that signs deliveries, hidden until a person reveals it. */
export function SecretPanel({ subscription }: { readonly subscription: Subscription }) {
  const { client, whyNot } = useWorkspace();
  const { show } = useSubscriptionSearch();
  const attempt = storedAttempt(useMe().id, `rotate.${subscription.id}`);
  const disabledReason = whyNot("subscriptions:write");
  const { previous_secret_until: until } = subscription;
  return (
    <Panel
      title="Signature"
      actions={
        <Button
          icon={RotateCw}
          size="small"
          onClick={() => show("rotate")}
          disabledReason={disabledReason}
        >
          Rotate
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <SecretField
          // After a rotation, React creates a new field, which no longer shows the old secret.
          key={until}
          label="Signing secret"
          start="whsec_"
          load={async () => {
            const { secret } = await client.subscriptions.revealSecret(subscription.id);
            // If the response of a rotation was lost, the person now has its secret.
            attempt.release();
            return secret;
          }}
          disabledReason={disabledReason}
        />
        {until === null ? null : (
          <p className="text-dense text-ink-2">
            The previous secret signs as well. It stops <Time value={until} />.
          </p>
        )}
        <div className="-ml-2 flex">
          <Button size="small" variant="quiet" onClick={() => show("verify")}>
            How to verify
          </Button>
        </div>
      </div>
    </Panel>
  );
}
