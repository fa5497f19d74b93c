export { pointerTo } from "./read-json.ts";
export {
  type FileMistake,
  FileMistakes,
  jsonOf,
  readSettingsFile,
  shownValue,
} from "./read-settings-file.ts";
