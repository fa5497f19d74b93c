import { type StreamEvent, workspaceEvent, workspaceEventsQuery } from "@beckon/contract";
import { getWorkspaceEvent, listEvents, streamEvents } from "../../events/index.ts";
import { dataOf, type ManagedRoute } from "../management/index.ts";

/** Describes `view=summary` of pages and streams of events. */
export const summarizing =
  "With `view=summary`, `data` has no `arguments`, `result` or `output`, and each of its `parts` has `bytes` instead of text or arguments. To read one event without this, get `/runs/:run_id/events/:seq`. In both views, `data` above 64 KiB has `artifact_id` and `bytes` in place of its large fields: get the whole data, in JSON, at `/runs/:run_id/artifacts/:artifact_id`.";

const example = {
  id: "evt_01jdb8tq5ke5ktbqrs4n1h9m0z",
  version: 1,
  time: "2026-01-31T09:30:00.000Z",
  agent_id: "agt_01jdb8tq5ke5ktbqrs4n1h9m0z",
  cursor: "MDAwMDAwMDAuMS4uMQ",
};

export const eventRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/events",
    permission: "runs:read",
    doc: {
      id: "listEvents",
      summary: "List workspace events",
      description: `The events of the workspace or of one agent, oldest first. Their order never changes, and those of a run are in the order of their \`seq\`; \`time\` does not always ascend. Each page searches up to \`limit\` events, fewer if their data is large, and holds those that match. Continue until \`next\` is null. Each event has a \`cursor\` to continue after it. Events of deleted runs are missing, so a cursor that is older than the retention of runs can skip some. Events of no run (\`agent.paused\`, \`agent.resumed\`, \`usage.threshold\`, \`subscription.disabled\`) are listed only if \`kind\` names them; their \`run_id\` and \`seq\` are null. An agent's token cannot name them. ${summarizing} With \`merge=true\`, an event that ends a run can replace the run's earlier events that are read at the same time, except \`run.queued\` and \`run.waiting\`; it then has \`merged\`, with \`seq\`, \`type\` and \`time\` of the first of them. After a resume, the first events can be missing from the stream and from \`merged\`: read the run for its times.`,
      stream:
        "With `Accept: text/event-stream`, the response streams new events, with a cursor also those after it. Frames with only an `id` are cursors after events that do not match. `limit` is rejected. The model's output is only in the stream of its run.",
      query: workspaceEventsQuery,
      data: workspaceEvent,
      dataExample: {
        ...example,
        run_id: "run_01jdb8tq5ke5ktbqrs4n1h9m0z",
        seq: 1,
        type: "run.started",
        data: {},
      },
      list: true,
    },
    handle: ({ ctx, query }) => listEvents({ ctx, input: { query } }),
    stream: async ({ ctx, query, lastEventId }) => {
      const stream = await streamEvents({ ctx, input: { query, lastEventId } });
      return { ...stream, idOf: cursorOf };
    },
  },
  {
    method: "GET",
    path: "/events/:event_id",
    permission: "runs:read",
    doc: {
      id: "getEvent",
      summary: "Get workspace event",
      description:
        "An event of no run, for example to verify a delivery. Events of runs are at `/runs/:run_id/events/:seq`.",
      data: workspaceEvent,
      dataExample: {
        ...example,
        run_id: null,
        seq: null,
        type: "agent.paused",
        data: { reason: null, actor: "user:usr_01jdb8tq5ke5ktbqrs4n1h9m0z" },
      },
    },
    handle: ({ ctx, param }) =>
      dataOf(getWorkspaceEvent({ ctx, input: { eventId: param("event_id") } })),
  },
];

/** Returns the cursor with which a reader resumes after an event; undefined if it has none. */
function cursorOf(event: StreamEvent): string | undefined {
  return "cursor" in event ? event.cursor : undefined;
}
