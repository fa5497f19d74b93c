import { useQuery } from "@tanstack/react-query";
import { Sparkline } from "../../charts/index.ts";
import { useWorkspace } from "../../data/index.ts";
import { formatCounted, formatShortCount } from "../../format/index.ts";
import { isFailing } from "../../runs/index.ts";
import { activityQuery } from "./activity.ts";

/**
 * The runs of an agent in the last 24 hours: a line by hour, and their count. If only the runs of
 * the last hour are known, the cell says so instead of the line.
 */
export function ActivityCell({ agentId }: { readonly agentId: string }) {
  const { data, isError } = useQuery(activityQuery(useWorkspace()));
  if (data === undefined) return isError ? <span className="text-ink-3">unknown</span> : null;
  const { hours, byAgent } = data;
  const activity = byAgent.get(agentId);
  if (activity === undefined)
    return <span className="text-ink-3">{`None in ${hours === 24 ? "24 hours" : "1 hour"}`}</span>;
  const { runs, failed, ended, hourly } = activity;
  const range = hours === 24 ? "in the last 24 hours" : "in the last hour";
  const label = `${formatCounted(runs, "run")}, ${formatCounted(failed, "failed", "failed")} ${range}`;
  const isBad = isFailing(failed, ended);
  return (
    <span title={label} className="flex items-center gap-2">
      <span className="w-20">
        {hours === 24 ? (
          <Sparkline label={label} values={hourly} tone={isBad ? "flare" : "tide"} />
        ) : (
          <>
            <span aria-hidden className={isBad ? "text-flare" : "text-ink-3"}>
              Last hour
            </span>
            <span className="sr-only">{label}</span>
          </>
        )}
      </span>
      <span className="ml-auto font-mono text-dense">{formatShortCount(runs)}</span>
    </span>
  );
}
