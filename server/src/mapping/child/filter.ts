import {
  type CelInput,
  CelScalar,
  celEnv,
  celFunc,
  celType,
  isCelError,
  parse,
  plan,
} from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import { Failure, messageOf } from "./failure.ts";
import { parseNested } from "./parse-payload.ts";
import { toCel } from "./to-cel.ts";
import { findUnknownName, isName } from "./unknown-names.ts";

const parseJson = celFunc("parse_json", [CelScalar.STRING], CelScalar.DYN, (text) =>
  toCel(parseNested(text)),
);
const env = celEnv({ funcs: [...strings, parseJson] });
const known = (name: string) => env.funcs.find(name) !== undefined;

/** Returns whether the request passes. @throws Failure */
export type Filter = (variables: Readonly<Record<string, CelInput>>) => boolean;

/**
 * Compiles a CEL expression. Names of variables and functions are checked, too.
 * @throws Failure if it is not valid
 */
export function compileFilter(text: string): Filter {
  const expression = parsed(text);
  const unknown = findUnknownName(expression.expr, known);
  const positions: Readonly<Record<string, number>> = expression.sourceInfo?.positions ?? {};
  const lineOf = (id: bigint | undefined) => lineAt(text, positions[String(id)]);
  if (unknown !== undefined) {
    const { name, id, kind } = unknown;
    // `has` is a macro of CEL. It remains a call if its argument is not a field.
    const message = name === "has" ? hints.has : `There is no ${kind} ${name}. ${hints[kind]}`;
    throw new Failure("filter", message, lineOf(id));
  }
  const evaluate = plan(env, expression);
  return (variables) => {
    const result = evaluate(variables);
    if (isCelError(result)) throw new Failure("filter", explain(result), lineOf(result.exprId));
    if (typeof result === "boolean") return result;
    const { name } = celType(result);
    throw new Failure("filter", `A filter must be true or false, but this one is of type ${name}.`);
  };
}

const hints = {
  variable: "The variables are payload, headers, query, event, files and received_at.",
  function: "See https://cel.dev for the functions of CEL.",
  has: 'has(…) needs a field, such as has(payload.a). If a name has other characters, write "x-a" in headers.',
};

function parsed(text: string): ReturnType<typeof parse> {
  try {
    return parse(text);
  } catch (thrown) {
    if (thrown instanceof RangeError)
      throw new Failure("filter", "The filter is nested too deeply. Write it with fewer brackets.");
    const line = /^<input>:(\d+):(\d+): (.*)$/s.exec(messageOf(thrown));
    if (line === null) throw new Failure("filter", messageOf(thrown));
    throw new Failure("filter", `Column ${line[2]}: ${line[3]}.`, Number(line[1]));
  }
}

/**
 * Returns the error's message. For the most frequent errors, a field or an element that is missing,
 * it gives advice.
 */
function explain({ message }: Error): string {
  const field = /^field not found: (.*)$/s.exec(message)?.[1];
  if (field !== undefined) {
    const test = isName.test(field) ? `has(….${field})` : `${JSON.stringify(field)} in …`;
    return `There is no field ${field} in this request. Test for it first with ${test}.`;
  }
  // CEL's message states a wrong length.
  const index = /^index (\S+) out of bounds/.exec(message)?.[1];
  if (index !== undefined)
    return `There is no element ${index}. Test the length first with size(…).`;
  return `${message}.`;
}

function lineAt(text: string, offset: number | undefined): number | null {
  return offset === undefined ? null : text.slice(0, offset).split("\n").length;
}
