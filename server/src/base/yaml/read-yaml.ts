import { Worker } from "node:worker_threads";
import { ApiError } from "../errors.ts";

/** Maximum time to parse a document. A typical document of the maximum size takes one second. */
const maxParseMs = 5_000;
const maxConcurrent = 2;
let running = 0;

/**
 * The value of a document as JSON, or `mistake` if the document is invalid. `mistake` is a phrase
 * that follows "The body …".
 */
export type ReadYaml =
  | { readonly json: string; readonly mistake?: undefined }
  | { readonly json?: undefined; readonly mistake: string };

/**
 * Parses YAML 1.2 with the core schema, which has plain values only and no custom types. The parser
 * runs in a worker thread that is terminated when parsing takes too long: a few kilobytes can keep
 * the parser busy for minutes, which would block the process.
 *
 * @throws ApiError `unavailable` while two other documents are being parsed.
 */
export async function readYaml(
  text: string,
): Promise<
  { readonly value: unknown; readonly mistake?: undefined } | { readonly mistake: string }
> {
  if (running >= maxConcurrent)
    throw new ApiError(
      "unavailable",
      "Other YAML documents are being parsed. Try again in a few seconds, or send JSON.",
      { retryAfter: 5 },
    );
  // `running` is increased only after the constructor, which throws if the system cannot create a
  // thread. If it were increased before, nothing would decrease it after such an error.
  const worker = new Worker(new URL("./yaml-worker.ts", import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 4 },
  });
  running += 1;
  const timer = setTimeout(() => void worker.terminate(), maxParseMs);
  try {
    const read = await new Promise<ReadYaml>((resolve) => {
      const giveUp = () => resolve({ mistake: "takes too much time or memory to parse" });
      worker.once("message", resolve);
      worker.once("error", giveUp);
      worker.once("exit", giveUp);
    });
    return read.json === undefined ? { mistake: read.mistake } : { value: JSON.parse(read.json) };
  } finally {
    clearTimeout(timer);
    running -= 1;
    await worker.terminate();
  }
}
