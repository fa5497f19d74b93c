export { invitationsKey, memberNamesQuery, membersKey } from "./queries.ts";
