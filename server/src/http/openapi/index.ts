export { buildDocument, type OpenapiDocument } from "./build-document.ts";
export { runErrors } from "./error-responses.ts";
