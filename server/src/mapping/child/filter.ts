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
import { findUnknownName } from "./unknown-names.ts";

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
    throw new Failure("filter", `There is no ${kind} ${name}. ${hints[kind]}`, lineOf(id));
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

/** Returns the error's message. For the most frequent error, a missing field, it gives advice. */
function explain(error: Error): string {
  const missing = /^field not found: (.*)$/s.exec(error.message)?.[1];
  if (missing === undefined) return `${error.message}.`;
  return `There is no field ${missing} in this request. Test for it first with has(…).`;
}

function lineAt(text: string, offset: number | undefined): number | null {
  return offset === undefined ? null : text.slice(0, offset).split("\n").length;
}
