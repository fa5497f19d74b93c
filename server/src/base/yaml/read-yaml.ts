import { Worker } from "node:worker_threads";
import { ApiError } from "../errors.ts";

/** An ordinary document of this size takes a second. */
const timeLimitMs = 5_000;
const atOnce = 2;
let reading = 0;

/** What a text stands for, or why it stands for nothing: words after "The text …". */
export type ReadYaml =
  | { readonly json: string; readonly mistake?: undefined }
  | { readonly json?: undefined; readonly mistake: string };

/**
 * Reads YAML 1.2 with its core schema: plain values, nothing that is made or called. In a thread of its own, which is ended when it takes
 * too long: a few kilobytes can be made to take the parser minutes, in which a process would do nothing else.
 *
 * @throws ApiError `unavailable` while others are read.
 */
export async function readYaml(
  text: string,
): Promise<
  { readonly value: unknown; readonly mistake?: undefined } | { readonly mistake: string }
> {
  if (reading >= atOnce)
    throw new ApiError(
      "unavailable",
      "Other YAML documents are being read. Try again, or send JSON.",
      { retryAfter: 5 },
    );
  reading += 1;
  const worker = new Worker(new URL("./yaml-worker.ts", import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 4 },
  });
  const timer = setTimeout(() => void worker.terminate(), timeLimitMs);
  try {
    const read = await new Promise<ReadYaml>((resolve) => {
      const giveUp = () => resolve({ mistake: "takes too long, or too much, to read" });
      worker.once("message", resolve);
      worker.once("error", giveUp);
      worker.once("exit", giveUp);
    });
    return read.json === undefined ? { mistake: read.mistake } : { value: JSON.parse(read.json) };
  } finally {
    clearTimeout(timer);
    reading -= 1;
    await worker.terminate();
  }
}
