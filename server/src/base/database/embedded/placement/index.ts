export { choosePlacement } from "./choose-placement.ts";
export { homeUnderAnotherUser, recordHome } from "./place-under-another-user.ts";
export { hashOf, type Placement, programIn } from "./placement.ts";
