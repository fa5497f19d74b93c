export { insertEvents } from "./insert-events.ts";
export { listEvents } from "./list.ts";
export { settleHistory } from "./settle-history.ts";
export { type EventContext, streamEvents } from "./stream.ts";
export { createTail, type Tail } from "./tail.ts";
export { writeWorkspaceEvent } from "./workspace-event-store.ts";
