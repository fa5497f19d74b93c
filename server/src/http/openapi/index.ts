export { buildDocument } from "./build-document.ts";
export { serveDocument, servePage } from "./serve.ts";
