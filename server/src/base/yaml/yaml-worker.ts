import { parentPort, workerData } from "node:worker_threads";
import { parseDocument, type YAMLError } from "yaml";
import type { ReadYaml } from "./read-yaml.ts";

/**
 * The worker of `readYaml`: parses one text and posts the result. If the parser throws something
 * unexpected, the worker exits without a result, and `readYaml` returns a mistake.
 */

/** Maximum characters of the value as JSON. Aliases can expand a short text to a huge value. */
const maxCharacters = 4 * 1_048_576;

/**
 * Tags are not resolved, so a document with a tag is rejected. `!!binary` and others would create
 * values that JSON does not have, and the meaning of an unknown tag must not be guessed.
 */
const options = {
  version: "1.2",
  schema: "core",
  resolveKnownTags: false,
  stringKeys: true,
  prettyErrors: true,
  logLevel: "error",
} as const;

/**
 * Messages for the most common errors. The parser's own messages are not used, because they contain
 * parts of the document.
 */
const words: { readonly [code: string]: string } = {
  DUPLICATE_KEY: "has a duplicate key in an object",
  TAG_RESOLVE_FAILED: "has a tag (!…), and tags are not supported",
  MULTIPLE_DOCS: "contains several documents",
  NON_STRING_KEY: "has a key that is not a string",
  BAD_ALIAS: "has an invalid alias (*…)",
};

function read(text: string): ReadYaml {
  const document = parseDocument(text, options);
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined)
    return { mistake: `${words[first.code] ?? "is not valid YAML"}${positionOf(first)}` };
  try {
    const json = JSON.stringify(document.toJS({ maxAliasCount: 100 }), plain);
    return json.length <= maxCharacters
      ? { json }
      : { mistake: "is too large after its aliases are expanded" };
  } catch (thrown) {
    if (thrown instanceof ReferenceError)
      return { mistake: "has an alias (*…) without an anchor before it, or too many aliases" };
    return {
      mistake:
        thrown instanceof RangeError
          ? "is nested too deeply"
          : "contains a value that JSON does not have: .nan, .inf or an alias inside itself",
    };
  }
}

function plain(_name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new TypeError("no such number in JSON");
  return value;
}

function positionOf({ linePos }: YAMLError): string {
  return linePos === undefined ? "" : ` at line ${linePos[0].line}, column ${linePos[0].col}`;
}

parentPort?.postMessage(read(workerData));
