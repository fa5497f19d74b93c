import type { MappingMistake } from "@beckon/contract";
import { type Mapped, type Mapping, type MappingVariables, maxMessageBytes } from "../mapping.ts";
import { Failure, messageOf } from "./failure.ts";
import { compileFilter, type Filter } from "./filter.ts";
import { parsePayload } from "./parse-payload.ts";
import { type MessageTemplate, templateCompiler } from "./template.ts";
import { toCel } from "./to-cel.ts";

type Variables = Omit<MappingVariables, "payload">;
type Payload = MappingVariables["payload"];

/** Evaluates mappings, in the process in which it is called. */
export interface MappingEvaluator {
  /** @throws Failure */
  evaluate(mapping: Mapping, variables: Variables, payload: Payload): Mapped;
  /** Returns the mistakes that can be found without a request. */
  check(mapping: Mapping): MappingMistake[];
}

/**
 * Maximum total characters of the filters that a process caches in compiled form. Templates have a
 * cache of the same size. The compiled form takes up to 200 bytes per character.
 */
const maxCompiledCharacters = 100_000;

export function mappingEvaluator(limits: {
  readonly timeoutMs: number;
  readonly maxObjects: number;
}): MappingEvaluator {
  const filterOf = cached(compileFilter);
  const templateOf = cached<MessageTemplate>(templateCompiler(limits));
  return {
    evaluate({ filter, template }, variables, payload) {
      const part = filter === null ? "template" : "filter";
      const value = reading(part, () =>
        payload.format === "json" ? parsePayload(payload.text) : payload.text,
      );
      if (filter !== null && !passes(filterOf(filter), { payload: value, ...variables }))
        return { passes: false, message: null };
      if (template === null) return { passes: true, message: null };
      const message = templateOf(template)({ payload: value, ...variables });
      const bytes = Buffer.byteLength(message);
      if (bytes <= maxMessageBytes) return { passes: true, message };
      throw new Failure(
        "template",
        `The message would have ${bytes} bytes; the maximum is ${maxMessageBytes} (1 MiB). Show less of the payload, for example with the filter truncate.`,
      );
    },
    check({ filter, template }) {
      return [
        ...(filter === null ? [] : mistakesOf("filter", () => filterOf(filter))),
        ...(template === null ? [] : mistakesOf("template", () => templateOf(template))),
      ];
    },
  };
}

function passes(filter: Filter, variables: Readonly<Record<string, unknown>>): boolean {
  const entries = Object.entries(variables);
  return reading("filter", () =>
    filter(Object.fromEntries(entries.map(([name, value]) => [name, toCel(value)]))),
  );
}

/**
 * Returns the result of `work`, which reads the payload.
 * @throws Failure for every error. A `RangeError` means that the payload is nested too deeply.
 */
function reading<T>(part: MappingMistake["part"], work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    if (thrown instanceof RangeError)
      throw new Failure(part, "The payload is nested too deeply to be evaluated.");
    throw new Failure(part, `${messageOf(thrown)}.`);
  }
}

function mistakesOf(part: MappingMistake["part"], compile: () => unknown): MappingMistake[] {
  try {
    compile();
    return [];
  } catch (thrown) {
    if (thrown instanceof Failure) return [thrown.mistake];
    return [new Failure(part, `${messageOf(thrown)}.`).mistake];
  }
}

/** Keeps the most recently used results of `compile`. */
function cached<T>(compile: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>();
  let characters = 0;
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) kept.delete(text);
    const compiled = known ?? compile(text);
    if (known === undefined) characters += text.length;
    kept.set(text, compiled);
    for (const oldest of kept.keys()) {
      if (characters <= maxCompiledCharacters) break;
      kept.delete(oldest);
      characters -= oldest.length;
    }
    return compiled;
  };
}
