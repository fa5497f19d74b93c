export { type Applied, apply } from "./apply.ts";
export { type Change, plan } from "./plan.ts";
export { readDocument } from "./read-document.ts";
