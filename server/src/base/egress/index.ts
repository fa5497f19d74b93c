/**
 * Outbound calls: `createLeanFetch` for URLs that the operator chose, `createEgress` for URLs that
 * a tenant chose.
 */
export type { ResponseBeginning } from "./beginning-exchange.ts";
export { type ByteMeter, meterCalls } from "./byte-meter.ts";
export {
  createEgress,
  type Egress,
  type EgressOptions,
  type EgressTestHooks,
  onBehalfOf,
} from "./create-egress.ts";
export { EgressDenied } from "./egress-denied.ts";
export { acceptEvents, canBeEvents } from "./event-stream.ts";
export { codingsOf } from "./exchange.ts";
export { GrowingBuffer } from "./growing-buffer.ts";
export {
  createLeanFetch,
  type LeanFetch,
  type LeanFetchOptions,
  type Transport,
} from "./lean-fetch.ts";
export { parseRetryAfter } from "./parse-retry-after.ts";
export { howToAllow, privateAddressError } from "./private-address-error.ts";
export { createLookups, type Lookups } from "./resolve-host.ts";
