export { buildDocument, type OpenapiDocument } from "./build-document.ts";
