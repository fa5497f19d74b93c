export { listenForSample } from "./listen-for-sample.ts";
export { stopListening } from "./stop-listening.ts";
