export { memberNamesQuery, membersKey } from "./queries.ts";
