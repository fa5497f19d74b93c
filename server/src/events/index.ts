export { insertEvents } from "./insert-events.ts";
export { listEvents } from "./list.ts";
export { settleHistory } from "./settle-history.ts";
export { streamEvents } from "./stream.ts";
export { createTail, type Tail } from "./tail.ts";
