import { parentPort, workerData } from "node:worker_threads";
import { parse } from "yaml";

/** The other side of `readYaml`: reads one text, says what it is, and ends. What the parser throws ends it without an answer. */
parentPort?.postMessage({ value: parse(workerData, { maxAliasCount: 100, logLevel: "error" }) });
