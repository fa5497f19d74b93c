export { choosePlacement } from "./choose-placement.ts";
export { findBinaries } from "./find-binaries.ts";
export { homeUnderAnotherUser } from "./place-under-another-user.ts";
export { hashOf, type Placement, programIn } from "./placement.ts";
export { hasHomeRecord, homeRecordOf, recordHome } from "./recorded-home.ts";
