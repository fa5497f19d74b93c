import type { parse } from "@bufbuild/cel";

type Expression = ReturnType<typeof parse>["expr"];

interface UnknownName {
  readonly kind: "variable" | "function";
  readonly name: string;
  /** Id of the expression that contains the name. */
  readonly id: bigint;
}

const variables = ["payload", "headers", "query", "event", "files", "received_at"];
/**
 * Type names, which CEL allows where a variable can be. `google` begins the names of message types,
 * such as `google.protobuf.Timestamp`.
 */
const types = [
  ..."bool bytes double duration dyn int list map null_type string timestamp type uint".split(" "),
  "google",
];
/** Matches a name that can follow a dot in an expression. */
export const isName = /^[A-Za-z_]\w*$/;

/**
 * Returns the first variable or function of an expression that does not exist; undefined if there
 * is none. The evaluator itself reports an unknown name only when it evaluates that part of the
 * expression for a request.
 * @throws RangeError if the expression is nested too deeply.
 */
export function findUnknownName(
  expression: Expression,
  isFunction: (name: string) => boolean,
): UnknownName | undefined {
  const search = (
    each: Expression | undefined,
    scope: ReadonlySet<string>,
  ): UnknownName | undefined => {
    if (each === undefined) return undefined;
    const searchAll = (list: readonly (Expression | undefined)[]) => {
      for (const one of list) {
        const found = search(one, scope);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const { id, exprKind: kind } = each;
    switch (kind.case) {
      case "identExpr": {
        const name = kind.value.name.replace(/^\./, "");
        return scope.has(name) ? undefined : { kind: "variable", name, id };
      }
      case "selectExpr":
        return search(kind.value.operand, scope);
      case "callExpr": {
        const { target, function: name, args } = kind.value;
        const owner =
          target?.exprKind.case === "identExpr" ? target.exprKind.value.name : undefined;
        if (owner !== undefined && isFunction(`${owner}.${name}`)) return searchAll(args);
        if (isName.test(name) && !isFunction(name)) return { kind: "function", name, id };
        return searchAll([target, ...args]);
      }
      case "listExpr":
        return searchAll(kind.value.elements);
      case "structExpr":
        return searchAll(
          kind.value.entries.flatMap(({ keyKind, value }) => [
            keyKind.case === "mapKey" ? keyKind.value : undefined,
            value,
          ]),
        );
      case "comprehensionExpr": {
        const { iterRange, accuInit, iterVar, iterVar2, accuVar } = kind.value;
        const { loopCondition, loopStep, result } = kind.value;
        const inner = new Set([...scope, iterVar, iterVar2, accuVar]);
        return (
          searchAll([iterRange, accuInit]) ??
          search(loopCondition, inner) ??
          search(loopStep, inner) ??
          search(result, inner)
        );
      }
      default:
        return undefined;
    }
  };
  return search(expression, new Set([...variables, ...types]));
}
