import { useQuery } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { memo } from "react";
import { type CurrentWorkspace, useWorkspace } from "../data/index.ts";
import { useEvents, useThrottled } from "../live/index.ts";
import { planQuery } from "../plan/index.ts";
import { agentNamesQuery, useAgentNames } from "../runs/index.ts";
import { subscriptionsQuery } from "../subscriptions/index.ts";
import { List, Panel, Problem, Skeleton, useNow } from "../ui/index.ts";
import { attentionOf } from "./attention.ts";
import { AttentionRow } from "./attention-row.tsx";
import { byAgentQuery, nearLimitsQuery, providerHealthQuery } from "./queries.ts";
import { uncheckedText } from "./unchecked-text.ts";
import { useQueue } from "./use-queue.ts";

/** Refetched only once a minute, because a subscription that fails usually does so for hours. */
const watchedSubscriptionsQuery = (workspace: CurrentWorkspace) => ({
  ...subscriptionsQuery(workspace),
  refetchInterval: 60_000,
});

/** The plan, refetched only once a minute, as the ceilings are. Every role can read it. */
const watchedPlanQuery = (workspace: CurrentWorkspace) => ({
  ...planQuery(workspace),
  refetchInterval: 60_000,
});

/** Minimum time in ms between two reads of the limits, which can have many pages, after events. */
const minLimitsIntervalMs = 2_000;

/** Maximum number of rows. Further items are only counted. */
const maxRows = 12;

/** Lists what needs a person's attention, each item with a possible action. */
export const AttentionPanel = memo(function AttentionPanel() {
  const workspace = useWorkspace();
  const agents = useAgentNames();
  // use-statistics.ts refetches this query. It refetches all statistics of the overview in turn,
  // one at a time.
  const byAgent = useQuery(byAgentQuery(workspace));
  const providers = useQuery(providerHealthQuery(workspace));
  const queue = useQueue();
  const plan = useQuery(watchedPlanQuery(workspace));
  const ceilings = useQuery(nearLimitsQuery(workspace));
  const subscriptions = useQuery(watchedSubscriptionsQuery(workspace));
  const readLimits = useThrottled(
    () => Promise.all([plan.refetch(), ceilings.refetch()]),
    minLimitsIntervalMs,
  );
  useEvents((events) => {
    if (events.some(({ type }) => type === "subscription.disabled")) void subscriptions.refetch();
    if (events.some(({ type }) => type === "usage.threshold")) readLimits();
  });
  const names = useQuery(agentNamesQuery(workspace));
  const nowMs = useNow();
  const condition = {
    providers: providers.data,
    byAgent: byAgent.data,
    queue: queue.data,
    plan: plan.data,
    ceilings: ceilings.data,
    subscriptions: subscriptions.data,
    agents,
    nowMs,
  };
  const items = attentionOf(condition);
  const unchecked = uncheckedText(condition);
  const sources = [providers, byAgent, queue, plan, ceilings, subscriptions, names];
  const failed = sources.filter(({ isError }) => isError);
  // `isPending` cannot be used: it stays true for queries that are disabled because the person
  // lacks the permission.
  const isLoading = sources.some((source) => source.isLoading);
  return (
    <Panel title="Needs attention" padding="none">
      {failed[0] === undefined ? null : (
        <div className={items.length === 0 ? "p-4" : "border-b border-rule p-4"}>
          <Problem
            error={failed[0].error}
            title="Not everything could be checked."
            onRetry={() => Promise.all(failed.map(({ refetch }) => refetch()))}
          />
        </div>
      )}
      {items.length === 0 && failed.length > 0 ? null : items.length === 0 ? (
        <div className="flex min-h-row items-center gap-2 px-4 py-2 text-ink-2">
          {isLoading ? (
            <Skeleton width={60} />
          ) : (
            <>
              <span className="inline-flex text-moss">
                <CircleCheck aria-hidden />
              </span>
              Nothing needs attention.
            </>
          )}
        </div>
      ) : (
        <List label="Needs attention">
          {items.slice(0, maxRows).map((item) => (
            <AttentionRow
              key={JSON.stringify([item.kind, keyOf(item)])}
              item={item}
              agents={agents}
            />
          ))}
        </List>
      )}
      {items.length > maxRows ? (
        <p className="border-t border-rule px-4 py-2 text-dense text-ink-2">
          {items.length - maxRows} more
        </p>
      ) : null}
      {unchecked === "" ? null : (
        <p className="border-t border-rule px-4 py-2 text-dense text-ink-2">{unchecked}</p>
      )}
    </Panel>
  );
});

function keyOf(item: ReturnType<typeof attentionOf>[number]): string {
  if (item.kind === "provider") return item.name;
  if (item.kind === "subscription") return item.subscription.id;
  if (item.kind === "plan") return item.metric.metric;
  if (item.kind === "limit") return item.ceiling.scope_id;
  return item.kind === "queue" ? "" : item.agentId;
}
