export { artifactOf, type BodyOptions, type DeliveredRow, deliveryBody } from "./body.ts";
