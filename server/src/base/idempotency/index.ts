export { mismatch, type Once, once } from "./once.ts";
export { resealAnswers } from "./reseal.ts";
