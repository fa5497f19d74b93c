import { Worker } from "node:worker_threads";
import { Refusal } from "../../base/errors.ts";

/** An ordinary document of this size takes a second. */
const timeLimitMs = 5_000;
const atOnce = 2;
let reading = 0;

/**
 * Reads YAML in a thread of its own, which is ended when it takes too long: a few kilobytes can be made to take the parser minutes,
 * in which a process would do nothing else.
 *
 * @returns undefined when it is no YAML, or was given up.
 * @throws Refusal `unavailable` while others are read.
 */
export async function readYaml(text: string): Promise<{ readonly value: unknown } | undefined> {
  if (reading >= atOnce)
    throw new Refusal("unavailable", "Other YAML documents are being read. Try again, or send JSON.", { retryAfter: 5 });
  reading += 1;
  const worker = new Worker(new URL("./yaml-worker.ts", import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 4 },
  });
  const timer = setTimeout(() => void worker.terminate(), timeLimitMs);
  try {
    return await new Promise((resolve) => {
      worker.once("message", (read: { readonly value: unknown } | undefined) => resolve(read));
      worker.once("error", () => resolve(undefined));
      worker.once("exit", () => resolve(undefined));
    });
  } finally {
    clearTimeout(timer);
    reading -= 1;
    await worker.terminate();
  }
}
