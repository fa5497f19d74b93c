import type { Agent } from "@beckon/client";
import { Banner } from "../../ui/index.ts";

/** Says that a paused agent accepts no runs, and why it was paused. */
export function PausedNotice({ agent }: { readonly agent: Agent }) {
  if (!agent.paused) return null;
  return (
    <Banner tone="warning">
      <strong className="font-semibold">Paused: new runs are rejected.</strong>{" "}
      {agent.pause_reason === null ? (
        "No reason was given."
      ) : (
        <span dir="auto">{agent.pause_reason}</span>
      )}
    </Banner>
  );
}
