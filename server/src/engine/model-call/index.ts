export { requestBytes, UnansweredCall } from "./call-model.ts";
export { recordedWait } from "./recorded-wait.ts";
export { callModel } from "./traced-call.ts";
