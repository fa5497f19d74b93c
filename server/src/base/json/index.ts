export {
  isRawNumber,
  parseExactly,
  parseJsonColumn,
  rawNumber,
  withData,
} from "./exact-integers.ts";
export { endOfString, isNestedDeeper } from "./json-nesting.ts";
export { fieldOf, isJsonObject, type JsonObject } from "./json-object.ts";
export { parseJson, tryParseJson } from "./parse-json.ts";
export { withoutUndefined } from "./without-undefined.ts";
