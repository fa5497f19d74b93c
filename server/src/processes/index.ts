export { keepLease, type Lease } from "./keep-lease.ts";
export { OwnProcess } from "./own-process.ts";
export { forgetDead, recordDeaths, recordLapsed, registerProcess, renewLease } from "./process-store.ts";
