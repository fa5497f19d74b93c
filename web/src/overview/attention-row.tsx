import type { Subscription } from "@beckon/client";
import { Clock, CreditCard, type LucideIcon, OctagonX, Pause, Unplug } from "lucide-react";
import type { ReactNode } from "react";
import { useWorkspace } from "../data/index.ts";
import { formatCount, formatCounted, formatDuration, shortenId } from "../format/index.ts";
import { metricTexts } from "../plan/index.ts";
import { type AgentName, isFailing, RaiseCeiling } from "../runs/index.ts";
import { LinkButton, Row } from "../ui/index.ts";
import type { AttentionItem } from "./attention.ts";
import { ResumeButton } from "./resume-button.tsx";

interface AttentionRowProps {
  readonly item: AttentionItem;
  readonly agents: ReadonlyMap<string, AgentName>;
}

/** One thing that needs attention, and what to do about it. */
export function AttentionRow({ item, agents }: AttentionRowProps) {
  const { id } = useWorkspace();
  const path = `/w/${id}`;
  const nameOf = (agentId: string) => agents.get(agentId)?.name ?? shortenId(agentId);
  switch (item.kind) {
    case "provider":
      return (
        <Row
          start={<Icon icon={Unplug} tone="flare" />}
          title={<Named name={item.name}>does not work</Named>}
          detail={<bdi title={item.error}>{item.error}</bdi>}
          end={
            <LinkButton size="small" href={`${path}/providers`}>
              Open providers
            </LinkButton>
          }
        />
      );
    case "failing": {
      const query = `agent_id=${item.agentId}&status=failed&source=invoke,trigger&created_after=${item.minutes === 60 ? "1h" : "5m"}`;
      const isSevere = isFailing(item.failed, item.ended);
      const share = `${formatCount(item.failed)} of ${formatCounted(item.ended, "run")} failed`;
      return (
        <Row
          start={<Icon icon={OctagonX} tone={isSevere ? "flare" : "brass"} />}
          title={
            <Named name={nameOf(item.agentId)}>{isSevere ? "is failing" : "has failed runs"}</Named>
          }
          detail={`${share} in the last ${item.minutes === 60 ? "hour" : "5 minutes"}`}
          end={
            <LinkButton size="small" href={`${path}/runs?${query}`}>
              Show failed
            </LinkButton>
          }
        />
      );
    }
    case "subscription":
      return <SubscriptionRow subscription={item.subscription} path={path} />;
    case "queue": {
      const { count, isMore } = item.queue;
      return (
        <Row
          start={<Icon icon={Clock} tone="brass" />}
          title={`${formatCount(count)}${isMore ? "+" : ""} ${count === 1 ? "run waits" : "runs wait"}`}
          // Not how long it waits: a run that was held or resumed is queued later.
          detail={`The oldest ${isMore ? "of the newest " : ""}was created ${formatDuration(item.ageMs)} ago`}
          end={
            <LinkButton size="small" href={`${path}/runs?status=queued`}>
              Show queue
            </LinkButton>
          }
        />
      );
    }
    case "paused": {
      const { name, pauseReason, isPausedByLimit } = item.agent;
      return (
        <Row
          start={<Icon icon={Pause} tone="brass" />}
          title={<Named name={name}>is paused</Named>}
          detail={
            isPausedByLimit ? (
              "Its ceiling is reached."
            ) : (
              <bdi>{pauseReason ?? "No reason was given."}</bdi>
            )
          }
          end={
            isPausedByLimit ? (
              <RaiseCeiling ceiling={`agent:${item.agentId}`} />
            ) : (
              <ResumeButton agentId={item.agentId} name={name} />
            )
          }
        />
      );
    }
    case "plan": {
      const { metric, used, allowance, reached } = item.metric;
      const { label } = metricTexts[metric];
      const [part, whole] = [used ?? 0, allowance ?? 0];
      return (
        <Row
          start={<Icon icon={CreditCard} tone={reached ? "flare" : "brass"} />}
          title={
            <Named name="The plan">
              {`${reached ? "reached" : "is near"} its limit of ${label.toLowerCase()}`}
            </Named>
          }
          detail={`${usedOf(metric, part, whole)} used this month${rejection(reached, part, whole)}`}
          end={
            <LinkButton size="small" href={`${path}/plan`}>
              Open plan
            </LinkButton>
          }
        />
      );
    }
    case "limit": {
      const { scope, scope_id, name, spent_micros: spent, limit_micros: limit } = item.ceiling;
      const { reached } = item.ceiling;
      return (
        <Row
          start={<Icon icon={CreditCard} tone={reached ? "flare" : "brass"} />}
          title={
            <Named name={name ?? scope_id}>
              {reached ? "reached its ceiling" : "is near its ceiling"}
            </Named>
          }
          detail={`${usedOf("cost", spent, limit)} spent today${rejection(reached, spent, limit)}`}
          end={<RaiseCeiling ceiling={`${scope}:${scope_id}`} />}
        />
      );
    }
  }
}

/** Returns the used part of a limit: `$0.90 of $1.00`. */
function usedOf(metric: keyof typeof metricTexts, used: number, limit: number): string {
  const { format, beside } = metricTexts[metric];
  return `${beside(limit, [used, limit - used])(used)} of ${format(limit)}`;
}

/** Says why a limit is reached of which something is left. */
const rejection = (reached: boolean, used: number, limit: number) =>
  reached && used < limit ? ", a call did not fit" : "";

interface SubscriptionRowProps {
  readonly subscription: Subscription;
  readonly path: string;
}

function SubscriptionRow({ subscription, path }: SubscriptionRowProps) {
  const { id, url, description, status, health } = subscription;
  const { can } = useWorkspace();
  const isDisabled = status === "disabled";
  const canResume = isDisabled && can("subscriptions:write");
  const detail = `${isDisabled ? "Events are not sent. " : ""}${health.last_error ?? ""}`;
  return (
    <Row
      start={<Icon icon={OctagonX} tone="flare" />}
      title={<Named name={description || url}>{isDisabled ? "was disabled" : "is failing"}</Named>}
      detail={<bdi title={detail}>{detail}</bdi>}
      end={
        <LinkButton
          size="small"
          href={`${path}/subscriptions/${id}${canResume ? "?act=resume" : ""}`}
        >
          {canResume ? "Resume delivery" : "Open subscription"}
        </LinkButton>
      }
    />
  );
}

const tones = { flare: "text-flare", brass: "text-brass" };

function Icon({
  icon: Shape,
  tone,
}: {
  readonly icon: LucideIcon;
  readonly tone: keyof typeof tones;
}) {
  return (
    <span className={`inline-flex ${tones[tone]}`}>
      <Shape aria-hidden />
    </span>
  );
}

/**
 * A name, followed by what is said about it. On a phone both wrap, because the row also contains a
 * button, which takes a third of the width.
 */
function Named({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <span title={name} className="flex min-w-0 gap-x-1 max-sm:flex-wrap max-sm:whitespace-normal">
      <bdi className="min-w-0 font-semibold max-sm:line-clamp-2 max-sm:break-words sm:truncate">
        {name}
      </bdi>
      <span className="shrink-0">{children}</span>
    </span>
  );
}
