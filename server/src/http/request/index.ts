export { acceptedNames } from "./accepted-names.ts";
export { countResponse, countStreamed, holdExchange } from "./hold-exchange.ts";
export { bindKey, idempotencyKey } from "./idempotency-key.ts";
export {
  arrivesWithHeaders,
  type BodyHold,
  bodyText,
  type RawBody,
  readBody,
  readSmallBody,
} from "./read-body.ts";
export { type ReadDeadline, readDeadline } from "./read-deadline.ts";
export {
  addressOf,
  clientGoneSignal,
  headerOf,
  pathParameter,
  type RequestContext,
} from "./request.ts";
export { IdentifiedResponse, requestIdHeader, requestIdOf } from "./request-id.ts";
export {
  newRequestId,
  type PresentedKind,
  type RequestReport,
  reportOf,
} from "./request-report.ts";
export { startContent } from "./start-content.ts";
