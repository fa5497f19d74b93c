export { requireValidReceiving } from "./check-receiving.ts";
export { addTrigger, createTrigger } from "./create.ts";
export { deleteTrigger } from "./delete.ts";
export { fillPreset } from "./fill-preset.ts";
export { getTrigger } from "./get.ts";
export { listTriggers } from "./list.ts";
export { listPresets } from "./list-presets.ts";
export { listenForSample, stopListening } from "./listening/index.ts";
export { type MappedRequest, mapRequest } from "./map-request.ts";
export {
  deleteRequest,
  getRequest,
  listRequests,
  previewTrigger,
  replayRequest,
  replayRequests,
} from "./requests/index.ts";
export { revealSenderSecret } from "./reveal-sender-secret.ts";
export { revealTrigger } from "./reveal-token.ts";
export { rotateTrigger } from "./rotate-token.ts";
export { reEncryptSenderSecrets } from "./secrets/index.ts";
export { setSenderSecret } from "./set-sender-secret.ts";
export { countCharactersOfTriggers, disableTriggersOf, listTriggersOfAgents } from "./store.ts";
export { testTrigger } from "./test-trigger.ts";
export type { TriggerWithToken } from "./trigger.ts";
export {
  readTriggerOfToken,
  type TriggerOfToken,
  type TriggerSettings,
} from "./trigger-of-token.ts";
export { updateTrigger } from "./update.ts";
export { type PreparedTrigger, prepareTrigger, writeTriggers } from "./write-triggers.ts";
