export { repairAnswer } from "./repair-answer.ts";
