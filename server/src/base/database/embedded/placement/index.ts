export { choosePlacement } from "./choose-placement.ts";
export { findBinaries } from "./find-binaries.ts";
export { homeUnderAnotherUser, recordHome } from "./place-under-another-user.ts";
export { hashOf, type Placement, programIn } from "./placement.ts";
