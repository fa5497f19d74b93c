export { acceptsStream } from "./accepts-stream.ts";
export {
  createStreams,
  defaultStreamLimits,
  type StreamLimits,
  type Streams,
} from "./open-streams.ts";
export { seqOf } from "./seq-of.ts";
export type { StreamSource } from "./write-stream.ts";
