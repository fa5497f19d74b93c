export {
  automaticProcesses,
  availableMemoryBytes,
  maxProcesses,
  minHeapMib,
} from "./machine.ts";
export { memoryBudget } from "./memory-budget.ts";
