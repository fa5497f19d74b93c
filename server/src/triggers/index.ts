export { addTrigger, createTrigger } from "./create.ts";
export { deleteTrigger } from "./delete.ts";
export { getTrigger } from "./get.ts";
export { listTriggers } from "./list.ts";
export { revealTrigger } from "./reveal.ts";
export { rotateTrigger } from "./rotate.ts";
export { disableTriggersOf, listTriggersOfAgents } from "./store.ts";
export type { TriggerWithToken } from "./trigger.ts";
export { updateTrigger } from "./update.ts";
