export {
  useAfterReset,
  useEvents,
  useLiveStatus,
  useWatchedStart,
} from "./hooks.ts";
export { LiveProvider, useResets } from "./live-provider.tsx";
export type { RunStreamState } from "./protocol.ts";
export type { LiveStatus } from "./status.ts";
export { useRunStream } from "./use-run-stream.ts";
export { useThrottled } from "./use-throttled.ts";
