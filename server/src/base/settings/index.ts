export { findUnknownSettings, isInjected } from "./find-unknown-settings.ts";
export { type Setting, whole } from "./setting.ts";
