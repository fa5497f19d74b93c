export { escapeHtml } from "./html.ts";
export { createDocs } from "./serve.ts";
