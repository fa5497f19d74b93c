import { availableParallelism, totalmem } from "node:os";

/** Maximum number of server processes on one machine. */
export const maxProcesses = 64;

/** Smallest useful heap limit of one server process, in MiB. */
export const minHeapMib = 256;

/** Returns the bytes of memory of the machine or, if smaller, of the container's limit. */
export function availableMemoryBytes(): number {
  // Without a limit, constrainedMemory() returns 0, or in some versions more than totalmem().
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/**
 * Returns the number of server processes for `BECKON_PROCESSES=auto`: one per CPU, but at most
 * `maxProcesses`, and at most as many as fit into half of the memory with a heap of `minHeapMib`
 * each; at least 1.
 *
 * @param cpus CPUs that this process can use. Default: libuv's count, which respects CPU affinity
 *   and the CPU quota of the container's cgroup.
 * @param memoryBytes Default: `availableMemoryBytes()`.
 */
export function automaticProcesses(
  cpus = availableParallelism(),
  memoryBytes = availableMemoryBytes(),
): number {
  const heaps = Math.floor(memoryBytes / 2 / (minHeapMib * 1024 * 1024));
  return Math.max(1, Math.min(cpus, heaps, maxProcesses));
}
