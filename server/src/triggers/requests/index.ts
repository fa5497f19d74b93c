export { type BodyServices, withBodyHold } from "./decode-trial.ts";
export { getRequest } from "./get.ts";
export { listRequests } from "./list.ts";
export { previewTrigger } from "./preview.ts";
export { replayRequest } from "./replay.ts";
export { replayRequests } from "./replay-many.ts";
export { startMapped } from "./start-mapped.ts";
export { ownBody, readTrialRequest } from "./trial-request.ts";
export { tryOnLastRequest } from "./try-on-last.ts";
