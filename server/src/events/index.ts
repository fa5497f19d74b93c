export { createEventPoller, type EventPoller } from "./event-poller.ts";
export { getWorkspaceEvent } from "./get.ts";
export { insertEvents, insertWorkspaceEvents } from "./insert-events.ts";
export { listEvents } from "./list.ts";
export { reconcileHistory } from "./reconcile-history.ts";
export { type EventContext, streamEvents } from "./stream.ts";
export { summarize, summarizedData } from "./summary.ts";
export { createTurnCache } from "./turn-cache.ts";
export { orderWorkspaceEvents, writeWorkspaceEvent } from "./workspace-event-store.ts";
