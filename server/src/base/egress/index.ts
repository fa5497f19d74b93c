/** Outbound calls: the lean fetch where the operator chose the other side, egress where a tenant did. */
export { type ByteMeter, meterCalls } from "./byte-meter.ts";
export {
  createEgress,
  type Egress,
  type EgressOptions,
  type EgressSeams,
} from "./create-egress.ts";
export { EgressDenied } from "./egress-refused.ts";
export {
  createLeanFetch,
  type LeanFetch,
  type LeanFetchOptions,
  type Transport,
} from "./lean-fetch.ts";
