export { type CancelPorts, cancelRun, stopHere } from "./cancel.ts";
export { cancelRuns } from "./cancel-many.ts";
export { deleteRun } from "./delete.ts";
export { deleteRuns } from "./delete-many.ts";
export { getRun } from "./get.ts";
export { listRuns } from "./list.ts";
export { listRunEvents } from "./list-events.ts";
export { retryRun } from "./retry.ts";
