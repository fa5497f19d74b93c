import { workspaceEvent, workspaceEventsQuery } from "@beckon/contract";
import { listEvents, streamEvents } from "../../events/index.ts";
import type { ManagedRoute } from "../management/index.ts";

export const eventRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/events",
    permission: "runs:read",
    doc: {
      id: "listEvents",
      summary: "Read the events of all runs",
      description:
        "Of the whole workspace, or of one agent; oldest first, in the order in which they became durable. A page looks at limit events and holds those that match. Each has its cursor, to go on after it. Events that belong to no run (agent.paused, agent.resumed) are listed only if kind names them; their run_id and seq are null. An agent's token cannot name them.",
      stream:
        "With Accept: text/event-stream: without a cursor the events to come, else those after it and those to come. limit is not taken. What a model says while it speaks is in the stream of its run only.",
      query: workspaceEventsQuery,
      data: workspaceEvent,
      list: true,
    },
    handle: ({ ctx, query }) => listEvents({ ctx, input: { query } }),
    stream: async ({ ctx, query, lastEventId }) => {
      const stream = await streamEvents({ ctx, input: { query, lastEventId } });
      return { ...stream, idOf: (event) => ("cursor" in event ? event.cursor : undefined) };
    },
  },
];
