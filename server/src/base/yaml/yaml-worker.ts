import { parentPort, workerData } from "node:worker_threads";
import { parseDocument, type YAMLError } from "yaml";
import type { ReadYaml } from "./read-yaml.ts";

/** The other side of `readYaml`: reads one text, says what it is, and ends. What the parser throws beyond that ends it without an answer. */

/** As JSON: aliases make much of little. */
const maxCharacters = 4 * 1_048_576;

/** Without tags of any kind: `!!binary` and the like make other things than JSON holds, and what one does not know may not be guessed. */
const options = {
  version: "1.2",
  schema: "core",
  resolveKnownTags: false,
  stringKeys: true,
  prettyErrors: true,
  logLevel: "error",
} as const;

/** The commonest mistakes in words of ours: the parser's repeat the text. */
const words: { readonly [code: string]: string } = {
  DUPLICATE_KEY: "has a name twice in one object",
  TAG_RESOLVE_FAILED: "has a tag (!…), of which none are known here",
  MULTIPLE_DOCS: "holds several documents",
  NON_STRING_KEY: "has a name that is no text",
  BAD_ALIAS: "has an alias (*…) that is none",
};

function read(text: string): ReadYaml {
  const document = parseDocument(text, options);
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined)
    return { mistake: `${words[first.code] ?? "goes wrong"}${placeOf(first)}` };
  try {
    const json = JSON.stringify(document.toJS({ maxAliasCount: 100 }), plain);
    return json.length <= maxCharacters
      ? { json }
      : { mistake: "stands for too much: its aliases repeat it too often" };
  } catch (thrown) {
    if (thrown instanceof ReferenceError)
      return { mistake: "has an alias (*…) without its anchor before it, or too many of them" };
    return {
      mistake:
        thrown instanceof RangeError
          ? "is nested too deep"
          : "holds what JSON cannot: .nan, .inf or an alias inside itself",
    };
  }
}

function plain(_name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new TypeError("no such number in JSON");
  return value;
}

function placeOf({ linePos }: YAMLError): string {
  return linePos === undefined ? "" : ` at line ${linePos[0].line}, column ${linePos[0].col}`;
}

parentPort?.postMessage(read(workerData));
