export { createDocs } from "./serve.ts";
