export { createFailedAuthentications } from "./failed-authentications.ts";
export { type ConnectionLimits, listen } from "./listen.ts";
export { createStreams, defaultStreamLimits, type StreamLimits } from "./streams/index.ts";
