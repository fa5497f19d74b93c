export { findUnknownSettings } from "./find-unknown-settings.ts";
