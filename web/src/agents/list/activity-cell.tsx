import { useQuery } from "@tanstack/react-query";
import { Sparkline } from "../../charts/index.ts";
import { useWorkspace } from "../../data/index.ts";
import { formatCounted, formatShortCount } from "../../format/index.ts";
import { isFailing } from "../../runs/index.ts";
import { activityQuery } from "./activity.ts";

/** The runs of an agent in the last 24 hours: a line by hour, and their count. */
export function ActivityCell({ agentId }: { readonly agentId: string }) {
  const { data, isError } = useQuery(activityQuery(useWorkspace()));
  if (data === undefined) return isError ? <span className="text-ink-3">unknown</span> : null;
  const activity = data.get(agentId);
  if (activity === undefined) return <span className="text-ink-3">No runs</span>;
  const { runs, failed, ended, hourly } = activity;
  const label = `${formatCounted(runs, "run")}, ${formatCounted(failed, "failed", "failed")}`;
  return (
    <span title={label} className="flex items-center gap-2">
      <span className="w-20">
        <Sparkline
          label={label}
          values={hourly}
          tone={isFailing(failed, ended) ? "flare" : "tide"}
        />
      </span>
      <span className="ml-auto font-mono text-dense">{formatShortCount(runs)}</span>
    </span>
  );
}
