import type { DeliveredEvent } from "@beckon/contract";

interface EventGroup {
  readonly title: string;
  readonly events: readonly { readonly type: DeliveredEvent; readonly text: string }[];
}

/**
 * The events that can be delivered, each with a description. The contract has the same list, but
 * importing it would also load all schemas of the contract. `events.test.ts` compares both lists.
 */
export const eventGroups: readonly EventGroup[] = [
  {
    title: "Runs",
    events: [
      { type: "run.started", text: "A run has started." },
      { type: "run.tool_call", text: "A run calls a tool, with the arguments." },
      { type: "run.finished", text: "A run has succeeded, with its output." },
      { type: "run.failed", text: "A run has failed, with the error." },
      { type: "run.cancelled", text: "A run was cancelled." },
    ],
  },
  {
    title: "Agents",
    events: [
      { type: "agent.paused", text: "An agent was paused, with the reason." },
      { type: "agent.resumed", text: "An agent accepts runs again." },
    ],
  },
  {
    title: "Workspace",
    events: [
      { type: "usage.threshold", text: "A plan or ceiling is used up to a percentage." },
      { type: "subscription.disabled", text: "Beckon has disabled a subscription." },
    ],
  },
];

/** All events that can be delivered. */
export const eventTypes: readonly DeliveredEvent[] = eventGroups.flatMap(({ events }) =>
  events.map(({ type }) => type),
);

/** The events that are selected by default when a subscription is created. */
export const usualEvents: readonly DeliveredEvent[] = ["run.finished", "run.failed"];
