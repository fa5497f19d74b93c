import { Worker } from "node:worker_threads";
import { createTurns } from "../byte-budget.ts";
import { ApiError } from "../errors.ts";

/** Maximum time to parse a document. A typical document of the maximum size takes one second. */
const maxParseMs = 5_000;
/** Maximum number of documents that are parsed at a time; one workspace gets half of them. */
const maxConcurrent = 2;
/** Maximum time that a document waits until it is parsed. */
const maxWaitMs = 4_000;
const inTurn = createTurns({ max: maxConcurrent, shareMax: 0.5 });

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
 * @param owner the workspace. Workspaces take turns.
 * @throws ApiError `unavailable` if other documents are being parsed for `maxWaitMs`.
 */
export async function readYaml(text: string, owner: string): Promise<ParsedYaml> {
  const signal = AbortSignal.timeout(maxWaitMs);
  try {
    return await inTurn(owner, () => parseInWorker(text), signal);
  } catch (thrown) {
    if (thrown !== signal.reason) throw thrown;
    throw new ApiError(
      "unavailable",
      "Other YAML documents are being parsed. Try again in a few seconds, or send JSON.",
      { retryAfter: 5 },
    );
  }
}

type ParsedYaml =
  | { readonly value: unknown; readonly mistake?: undefined }
  | { readonly mistake: string };

async function parseInWorker(text: string): Promise<ParsedYaml> {
  const worker = new Worker(new URL("./yaml-worker.ts", import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 4 },
  });
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
    await worker.terminate();
  }
}
