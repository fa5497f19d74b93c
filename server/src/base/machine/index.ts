export {
  automaticProcesses,
  availableMemoryBytes,
  maxProcesses,
  minHeapMib,
} from "./machine.ts";
