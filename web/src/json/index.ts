export { BodyText } from "./body-text.tsx";
export { download } from "./download.ts";
export { JsonTree } from "./json-tree.tsx";
export { type Json, parseExactly, parseJson } from "./parse.ts";
