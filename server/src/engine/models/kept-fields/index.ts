export { fieldsExtractor, withKeptFields, withKeptStreamedFields } from "./keep-fields.ts";
export { sendKeptFields } from "./send-fields.ts";
