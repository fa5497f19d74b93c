export { answerTriggerHandshake } from "./answer-handshake.ts";
export { receive, UnverifiedRequest } from "./receive.ts";
export { ReceivedBody } from "./received-body.ts";
export type { ReceivedCall } from "./received-call.ts";
export { arrivalOf, withNewId } from "./received-rows.ts";
export { createRequestRates, type RequestRates } from "./request-rates.ts";
export { fireCors, presetsNeeding200 } from "./responses.ts";
