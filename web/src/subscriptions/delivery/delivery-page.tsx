import type { DeliveryDetails, Subscription } from "@beckon/client";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWorkspace } from "../../data/index.ts";
import { Badge, CopyButton, Id, PageHeader, useChangeSearch } from "../../ui/index.ts";
import { DeliveryMark, deliveryWord } from "../delivery-mark.tsx";
import { nameOf } from "../name.ts";
import { AttemptsPanel } from "./attempts-panel.tsx";
import { DeliveryActions } from "./delivery-actions.tsx";
import { DeliveryFacts } from "./delivery-facts.tsx";
import { DeliveryNotice } from "./delivery-notice.tsx";
import { RequestPanel } from "./request-panel.tsx";
import { ResponsePanel } from "./response-panel.tsx";

interface DeliveryPageProps {
  readonly subscription: Subscription;
  readonly delivery: DeliveryDetails;
  /** Says that the delivery may have changed or was deleted. */
  readonly notice: ReactNode;
}

/** The page of a delivery that is loaded. Without `?attempt=` the last attempt is shown. */
export function DeliveryPage({ subscription, delivery, notice }: DeliveryPageProps) {
  const { id } = useWorkspace();
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  const { attempts_log: attempts } = delivery;
  const attempt = attempts.find(({ number }) => String(number) === search.attempt) ?? attempts[0];
  const path = `/w/${id}/subscriptions`;
  const word = deliveryWord(delivery).toLowerCase();
  return (
    <div className="flex min-w-0 flex-col">
      <title>{`${delivery.type}, delivery ${word} · Beckon`}</title>
      <PageHeader
        title={delivery.type}
        breadcrumb={[
          { label: "Subscriptions", href: path },
          { label: nameOf(subscription), href: `${path}/${subscription.id}` },
        ]}
        id={
          <>
            <Id value={delivery.id} />
            <CopyButton text={delivery.id} what="delivery id" />
          </>
        }
        status={
          <>
            <DeliveryMark delivery={delivery} />
            {delivery.kind === "event" ? null : (
              <Badge>{delivery.kind === "test" ? "Test" : "Callback"}</Badge>
            )}
          </>
        }
        actions={
          <DeliveryActions subscription={subscription} delivery={delivery} attempt={attempt} />
        }
      >
        <DeliveryFacts delivery={delivery} />
      </PageHeader>
      <p role="status" className="sr-only">{`Delivery ${word}`}</p>
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        {notice}
        <DeliveryNotice subscription={subscription} delivery={delivery} />
        <AttemptsPanel
          attempts={attempts}
          current={attempt?.number}
          hrefOf={(number) =>
            `${path}/${subscription.id}/deliveries/${delivery.id}?attempt=${number}`
          }
          isFollowed={search.attempt === undefined}
          onFollow={() => changeSearch({ attempt: undefined }, { keepsScroll: true })}
        />
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
          <RequestPanel delivery={delivery} attempt={attempt} />
          <ResponsePanel delivery={delivery} attempt={attempt} />
        </div>
      </div>
    </div>
  );
}
