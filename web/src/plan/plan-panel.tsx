import type { PlanUsage } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../data/index.ts";
import { formatDate, knownZone } from "../format/index.ts";
import { LimitState } from "../limits/index.ts";
import { Badge, Banner, Panel, Problem, Skeleton, useAsOf, useNow } from "../ui/index.ts";
import { metricTexts } from "./metrics.ts";
import { planQuery } from "./queries.ts";

/** The workspace's plan: its monthly allowances, and the amounts left. */
export function PlanPanel() {
  const workspace = useWorkspace();
  const { data, error, dataUpdatedAt, refetch } = useQuery(planQuery(workspace));
  const asOf = useAsOf(dataUpdatedAt);
  return (
    <Panel
      title="Plan"
      description="What the workspace can use a month. The operator of Beckon sets it."
      actions={data === undefined ? undefined : <Badge>{data.plan}</Badge>}
    >
      {error === null ? null : (
        <div className={data === undefined ? "" : "pb-4"}>
          <Problem
            error={error}
            title={
              data === undefined
                ? "The plan could not be loaded."
                : `This is the plan as of ${asOf}.`
            }
            onRetry={refetch}
          />
        </div>
      )}
      {data === undefined ? (
        error === null ? (
          <div className="h-40">
            <Skeleton variant="block" />
          </div>
        ) : null
      ) : (
        <Allowances plan={data} />
      )}
    </Panel>
  );
}

function Allowances({ plan }: { readonly plan: PlanUsage }) {
  const now = useNow();
  const dateOf = (time: string) => formatDate(time, now, knownZone(plan.time_zone));
  const { next_plan: next } = plan;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {next === null ? null : (
        <Banner>
          The plan changes to <strong>{next.plan}</strong> on {dateOf(next.starts_at)}.
        </Banner>
      )}
      <dl className="grid min-w-0 grid-cols-1 gap-x-8 gap-y-4 md:grid-cols-2">
        {plan.metrics.map(({ metric, allowance, used, reserved, left, resets_at, ...rest }) => {
          const { label, format, beside } = metricTexts[metric];
          return (
            <div key={metric} className="flex min-w-0 flex-col gap-1">
              <dt className="text-label font-semibold text-ink-2">{label}</dt>
              <dd className="min-w-0">
                <LimitState
                  used={used}
                  isPartial={rest.unknown_cost_entries > 0}
                  usedWord="used"
                  reserved={reserved}
                  limit={allowance}
                  left={left}
                  isReached={rest.reached}
                  resetsAt={resets_at}
                  format={format}
                  beside={beside}
                />
                {metric === "cost" ? (
                  <p className="text-label text-ink-3">
                    At the prices of the operator or of Beckon's list. A price that the workspace
                    set counts only for models without such a price.
                  </p>
                ) : null}
              </dd>
            </div>
          );
        })}
      </dl>
      <p className="text-label text-ink-3">
        This month of the plan: {dateOf(plan.starts_at)} until {dateOf(plan.resets_at)}.
      </p>
    </div>
  );
}
