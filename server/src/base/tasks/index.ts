export { createSerialTask, type SerialTask } from "./serial-task.ts";
