export { mismatch, type Once, once } from "./once.ts";
