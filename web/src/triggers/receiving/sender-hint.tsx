import type { Trigger } from "@beckon/client";
import { SlidersHorizontal } from "lucide-react";
import { useWorkspace } from "../../data/index.ts";
import { Banner, LinkButton } from "../../ui/index.ts";

/** A notice for a trigger that accepts anything. It suggests choosing a sender, and says why. */
export function SenderHint({ trigger }: { readonly trigger: Pick<Trigger, "id" | "agent_id"> }) {
  const { id } = useWorkspace();
  return (
    <Banner
      action={
        <LinkButton
          href={`/w/${id}/agents/${trigger.agent_id}/triggers/${trigger.id}/settings`}
          icon={SlidersHorizontal}
          size="small"
        >
          Choose a sender
        </LinkButton>
      }
    >
      This trigger accepts any POST of text, JSON or a form. For webhooks of a service such as
      GitHub or Stripe, choose the sender: Beckon then verifies requests, runs each event once, and
      keeps what arrived.
    </Banner>
  );
}
