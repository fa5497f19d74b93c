export { requireDelivery, toDelivery } from "./delivery.ts";
export { getDelivery } from "./get.ts";
export { listDeliveries } from "./list.ts";
export { listRunDeliveries } from "./list-of-run.ts";
export { countMissed } from "./missed-store.ts";
export { replayDelivery } from "./replay.ts";
export { replayDeliveries } from "./replay-many.ts";
export { aboutAgents, insertTestDelivery } from "./store.ts";
