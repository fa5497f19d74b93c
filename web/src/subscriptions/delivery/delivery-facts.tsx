import type { DeliveryDetails } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { shortenId } from "../../format/index.ts";
import { useAgentNames } from "../../runs/index.ts";
import { CopyButton, Fact, Facts, Id, Link, Time, useMedia } from "../../ui/index.ts";
import { NextAttempt } from "../next-attempt.tsx";

/** The event and run of a delivery, and its number of attempts. */
export function DeliveryFacts({ delivery }: { readonly delivery: DeliveryDetails }) {
  const { id } = useWorkspace();
  const agents = useAgentNames();
  const { run_id: runId, agent_id: agentId, seq, event_id: eventId, attempts } = delivery;
  // A replay begins to count again. The numbers in the log continue.
  const isReplayed = (delivery.attempts_log[0]?.number ?? 0) > attempts;
  const isNarrow = !useMedia("(min-width: 640px)");
  return (
    <Facts layout={isNarrow ? "grid" : "line"}>
      {runId === null ? null : (
        <Fact label="Run">
          <Link href={`/w/${id}/runs/${runId}${seq === null ? "" : `?seq=${seq}`}`}>
            <Id value={runId} />
          </Link>
        </Fact>
      )}
      {agentId === null ? null : (
        <Fact label="Agent">
          <span className="max-w-60 truncate" dir="auto">
            <Link href={`/w/${id}/agents/${agentId}`}>
              {agents.get(agentId)?.name ?? shortenId(agentId)}
            </Link>
          </span>
        </Fact>
      )}
      {seq === null ? null : (
        <Fact label="Seq">
          <span className="font-mono text-dense">{String(seq)}</span>
        </Fact>
      )}
      <Fact label="Event id">
        <Id value={eventId} />
        <CopyButton text={eventId} what="event id" />
      </Fact>
      <Fact label="Created">
        <Time value={delivery.created_at} />
      </Fact>
      <Fact label={isReplayed ? "Attempts since the replay" : "Attempts"}>
        <span className="font-mono text-dense">{String(attempts)}</span>
      </Fact>
      {delivery.next_attempt_at === null ? null : (
        <Fact label="Next attempt">
          <NextAttempt time={delivery.next_attempt_at} />
        </Fact>
      )}
      {delivery.finished_at === null ? null : (
        <Fact label="Finished">
          <Time value={delivery.finished_at} />
        </Fact>
      )}
    </Facts>
  );
}
