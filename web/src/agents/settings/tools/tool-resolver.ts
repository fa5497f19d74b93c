import { updateAgentBody } from "@beckon/contract";
import type { Resolver } from "react-hook-form";
import { fieldIssues } from "../field-issues.ts";
import type { Tool } from "../fields.ts";
import { type OperationValues, type ToolValues, toolOf, type ValueRow } from "./tool-values.ts";

const toolsSchema = updateAgentBody.shape.tools;

/**
 * Returns the resolver of a tool's form. It checks the form in the same way as the API checks the
 * agent.
 * @param others the agent's other tools, whose names cannot be used again
 */
export function toolResolver(others: readonly Tool[]): Resolver<ToolValues> {
  return (values) => {
    const errors: object = {};
    const index = others.length;
    for (const { path, message, isKey } of fieldIssues(toolsSchema, [...others, toolOf(values)])) {
      const [at, ...inTool] = path;
      if (at !== index && at !== undefined) continue;
      const [field, rest] = fieldOf(values, inTool);
      const owner = isKey ? [...field.slice(0, -1), "name"] : field;
      putAt(errors, owner, rest === "" ? message : `${rest} ${message}`);
    }
    repeatedNames(values).forEach((field) => void putAt(errors, field, "occurs twice"));
    return Object.keys(errors).length === 0 ? { values, errors: {} } : { values: {}, errors };
  };
}

type FieldPath = readonly (string | number)[];

const names: Readonly<Record<string, string>> = {
  allowed_hosts: "allowedHosts",
  timeout_seconds: "timeoutSeconds",
  max_response_bytes: "maxResponseBytes",
  max_calls_per_run: "maxCallsPerRun",
  body_type: "bodyType",
  safe_to_repeat: "safeToRepeat",
  idempotency_header: "idempotencyHeader",
};

/**
 * Returns the form field that a path in the tool refers to, and the path within that field. The
 * second value is empty, unless the field contains a JSON Schema.
 */
function fieldOf(values: ToolValues, path: readonly PropertyKey[]): [FieldPath, string] {
  const [first = "name", ...rest] = path.map(String);
  if (first === "operations" && rest[0] !== undefined) {
    const index = Number(rest[0]);
    const operation = values.operations[index];
    const [field, left] = operation ? fieldIn(operation, rest.slice(1)) : [["name"], ""];
    return [["operations", index, ...field], left];
  }
  return fieldIn(values, [first, ...rest]);
}

function fieldIn(
  owner: Pick<ToolValues | OperationValues, "headers" | "query">,
  [first = "name", ...rest]: readonly string[],
): [FieldPath, string] {
  if (first === "headers" || first === "query") {
    const index = owner[first].findIndex(({ name }: ValueRow) => name === rest[0]);
    const row = owner[first][index];
    if (row === undefined) return [[first, "root"], ""];
    return [[first, index, fieldInRow(row, rest)], ""];
  }
  const isSchema = first === "parameters" || first === "body";
  const shown = isSchema ? rest.filter((part) => part !== "properties").join(".") : "";
  return [[names[first] ?? first], shown];
}

/**
 * Returns the field of a row that a path refers to.
 * @param path the name of the header or query parameter, and the path in its value
 */
function fieldInRow({ secretId }: ValueRow, [name, inValue]: readonly string[]): keyof ValueRow {
  if (inValue === "prefix") return "prefix";
  // A row with a stored secret has no field for its value.
  return name === "" || secretId !== "" ? "name" : "value";
}

/**
 * Returns the name field of each row that repeats the name of an earlier row. These fields get an
 * error, because the API takes an object, in which a name can have only one value.
 */
function repeatedNames(values: ToolValues): FieldPath[] {
  const repeated = (rows: readonly ValueRow[], path: FieldPath): FieldPath[] =>
    rows.flatMap(({ name }, index) =>
      rows.findIndex((row) => row.name === name) < index ? [[...path, index, "name"]] : [],
    );
  return [
    ...repeated(values.headers, ["headers"]),
    ...repeated(values.query, ["query"]),
    ...values.operations.flatMap(({ headers, query }, index) => [
      ...repeated(headers, ["operations", index, "headers"]),
      ...repeated(query, ["operations", index, "query"]),
    ]),
  ];
}

/**
 * Sets the error of a field in the nested object that React Hook Form expects. If the field already
 * has an error, this first error is kept.
 */
function putAt(errors: object, path: FieldPath, message: string): void {
  let owner = errors as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) {
    owner[key] ??= {};
    owner = owner[key] as Record<string | number, unknown>;
  }
  owner[path.at(-1) ?? "name"] ??= { type: "schema", message };
}
