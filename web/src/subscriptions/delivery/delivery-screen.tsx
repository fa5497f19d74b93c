import { useQuery } from "@tanstack/react-query";
import { errorOf, isNotFound, RefetchNotice, useIsGone, useWorkspace } from "../../data/index.ts";
import { Link, MessagePage, PageSkeleton, Problem } from "../../ui/index.ts";
import { deliveryQuery, subscriptionQuery, useSubscriptionIds } from "../queries.ts";
import { DeliveryPage } from "./delivery-page.tsx";

/** One delivery: what was sent, what the receiver responded, attempt by attempt. */
export function DeliveryScreen() {
  const workspace = useWorkspace();
  const { subscriptionId, deliveryId } = useSubscriptionIds();
  const subscription = useQuery(subscriptionQuery(workspace, subscriptionId));
  const delivery = useQuery(deliveryQuery(workspace, subscriptionId, deliveryId));
  const error = errorOf([subscription.error, delivery.error]);
  const isGone = useIsGone(error);
  const refetch = () => Promise.all([subscription.refetch(), delivery.refetch()]);
  if (delivery.data !== undefined && subscription.data !== undefined && !isGone) {
    const dataUpdatedAt = Math.min(delivery.dataUpdatedAt, subscription.dataUpdatedAt);
    return (
      <DeliveryPage
        subscription={subscription.data}
        delivery={delivery.data}
        notice={<RefetchNotice noun="delivery" query={{ error, dataUpdatedAt, refetch }} />}
      />
    );
  }
  if (error === null) return <PageSkeleton />;
  const path = `/w/${workspace.id}/subscriptions`;
  const hasSubscription = subscription.data !== undefined && !isNotFound(subscription.error);
  if (isNotFound(error))
    return (
      <MessagePage title="Delivery not found">
        <p>
          There is no delivery with this id. Old deliveries are deleted, by default after 30 days.
        </p>
        <Link href={hasSubscription ? `${path}/${subscriptionId}` : path}>
          {hasSubscription ? "Show all deliveries" : "Show all subscriptions"}
        </Link>
      </MessagePage>
    );
  return (
    <div className="p-4 md:p-6">
      <title>Delivery · Beckon</title>
      <h1 className="sr-only">Delivery</h1>
      <Problem error={error} title="The delivery could not be loaded." onRetry={refetch} />
    </div>
  );
}
