/** Outbound calls. */
export { createLeanFetch, type LeanFetch, type LeanFetchOptions } from "./lean-fetch.ts";
