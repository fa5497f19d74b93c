import { availableParallelism, totalmem } from "node:os";

/** Maximum number of server processes of one machine. */
export const maxProcesses = 64;

/** Smallest useful heap limit of one server process, in MiB. */
export const minHeapMib = 256;

/** Returns the bytes of memory of the machine or, if smaller, of the container's limit. */
export function availableMemoryBytes(): number {
  // Without a limit, constrainedMemory() returns 0, or in some versions more than totalmem().
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/**
 * Returns how many server processes `BECKON_PROCESSES=auto` stands for: one per CPU, but no more
 * than half of the memory gives the smallest useful heap to, at least 1 and at most `maxProcesses`.
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
