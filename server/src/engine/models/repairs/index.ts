export { repairMessageEvent } from "./message-event.ts";
export { repairAnswer } from "./repair-answer.ts";
