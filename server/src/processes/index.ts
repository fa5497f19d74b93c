export { keepLease } from "./keep-lease.ts";
export { OwnProcess } from "./own-process.ts";
export {
  countAlive,
  forgetDead,
  isFirstProcess,
  isWithoutProcess,
  recordDeaths,
  registerProcess,
} from "./process-store.ts";
