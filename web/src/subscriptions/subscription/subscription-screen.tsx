import { useQuery } from "@tanstack/react-query";
import { isNotFound, RefetchNotice, useIsGone, useWorkspace } from "../../data/index.ts";
import { Link, MessagePage, PageSkeleton, Problem } from "../../ui/index.ts";
import { subscriptionQuery, useSubscriptionIds } from "../queries.ts";
import { SubscriptionPage } from "./subscription-page.tsx";

/** One subscription: its health, its settings, and its deliveries, updated live. */
export function SubscriptionScreen() {
  const workspace = useWorkspace();
  const { subscriptionId } = useSubscriptionIds();
  const query = useQuery(subscriptionQuery(workspace, subscriptionId));
  const { data, error, refetch } = query;
  const isGone = useIsGone(error);
  if (data !== undefined && !isGone)
    return (
      <SubscriptionPage
        key={data.id}
        subscription={data}
        notice={<RefetchNotice noun="subscription" query={query} />}
      />
    );
  if (error === null) return <PageSkeleton />;
  if (isNotFound(error))
    return (
      <MessagePage title="Subscription not found">
        <p>
          There is no subscription with this id. It may have been deleted, or it belongs to another
          workspace.
        </p>
        <Link href={`/w/${workspace.id}/subscriptions`}>Show all subscriptions</Link>
      </MessagePage>
    );
  return (
    <div className="p-4 md:p-6">
      <title>Subscription · Beckon</title>
      <h1 className="sr-only">Subscription</h1>
      <Problem error={error} title="The subscription could not be loaded." onRetry={refetch} />
    </div>
  );
}
