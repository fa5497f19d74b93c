export { memberNamesQuery } from "./queries.ts";
