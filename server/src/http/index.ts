export { countFailedAuthentications } from "./failed-authentications.ts";
export { type ConnectionLimits, listen } from "./listen.ts";
export { defaultStreamLimits, openStreams, type StreamLimits } from "./streams/index.ts";
