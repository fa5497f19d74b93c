export { pointerTo } from "./read-json.ts";
export { FileMistakes, readSettingsFile } from "./read-settings-file.ts";
export { type AmountFormat, SettingsReader } from "./settings-reader.ts";
