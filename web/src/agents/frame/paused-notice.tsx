import type { Agent } from "@beckon/client";
import { RaiseCeiling } from "../../runs/index.ts";
import { Banner } from "../../ui/index.ts";

/** Says that a paused agent starts no runs, and why it was paused. */
export function PausedNotice({ agent }: { readonly agent: Agent }) {
  if (!agent.paused) return null;
  if (agent.paused_by === "limit")
    return (
      <Banner tone="warning" action={<RaiseCeiling ceiling={`agent:${agent.id}`} />}>
        <strong className="font-semibold">Paused: its ceiling is reached.</strong> New runs are
        rejected or held until the ceiling resets or is raised.
      </Banner>
    );
  return (
    <Banner tone="warning">
      <strong className="font-semibold">Paused: new runs are rejected or held.</strong>{" "}
      {agent.pause_reason === null ? (
        "No reason was given."
      ) : (
        <span dir="auto">{agent.pause_reason}</span>
      )}
    </Banner>
  );
}
