import { updateAgentBody } from "@beckon/contract";
import type { FieldErrors, ResolverResult } from "react-hook-form";
import { readDollars, type TypedDollars, withLineFeeds, writeDollars } from "../../format/index.ts";
import { isEqual } from "../../ui/overlay/merge.ts";
import { fieldIssues } from "./field-issues.ts";
import { type AgentFields, bodyOf, fieldAt } from "./fields.ts";

/** The values of the form's controls: the settings, two of them as texts that the person types. */
export type FormValues = Omit<AgentFields, "metadata" | "max_cost_micros"> & {
  /** As JSON. */
  readonly metadata: string;
  /** In dollars, as in all forms of the dashboard. Empty for no limit. */
  readonly max_cost_micros: string;
};

/** Returns the values with which the form is filled in. */
export function valuesOf(fields: AgentFields): FormValues {
  const { metadata, max_cost_micros: micros } = fields;
  const { version: _, ...values } = fields as AgentFields & { readonly version?: number };
  const isEmpty = Object.keys(metadata).length === 0;
  return {
    ...values,
    description: withLineFeeds(values.description),
    instructions: withLineFeeds(values.instructions),
    metadata: isEmpty ? "" : JSON.stringify(metadata, null, 2),
    max_cost_micros: micros === null ? "" : writeDollars(micros),
  };
}

/** Returns the fields that differ from `base`. Fields that cannot be parsed are left out. */
export function changesIn(values: FormValues, base: AgentFields): Partial<AgentFields> {
  const given = {
    ...values,
    metadata: parsedMetadata(values.metadata),
    max_cost_micros: parsedCost(values.max_cost_micros).micros,
  };
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) =>
        value !== undefined &&
        !isEqual(withLineFeeds(value), withLineFeeds(base[name as keyof AgentFields])),
    ),
  ) as Partial<AgentFields>;
}

/** Returns whether the form has unsaved changes. Changes that are not valid yet count too. */
export function isUnsaved(values: FormValues, base: AgentFields): boolean {
  if (Object.keys(changesIn(values, base)).length > 0) return true;
  return (
    parsedMetadata(values.metadata) === undefined ||
    parsedCost(values.max_cost_micros).micros === undefined
  );
}

/**
 * Checks the form as the API checks the request, which contains only what differs from `base`: an
 * agent that was stored before a check became stricter keeps its other settings.
 */
export function checkSettings(values: FormValues, base: AgentFields): ResolverResult<FormValues> {
  const errors: Partial<Record<keyof FormValues, { type: string; message: string }>> = {};
  if (parsedMetadata(values.metadata) === undefined)
    errors.metadata = {
      type: "json",
      message: 'is not JSON: write an object, as in {"team": "a"}',
    };
  const { error } = parsedCost(values.max_cost_micros);
  if (error !== undefined) errors.max_cost_micros = { type: "dollars", message: error };
  const body = bodyOf(changesIn(values, base));
  for (const { path, message } of fieldIssues(updateAgentBody, body)) {
    const field = fieldAt(path);
    if (field === undefined) continue;
    const text = field === "tools" ? `${toolNameAt(values, path)}${message}` : message;
    errors[field] ??= { type: "schema", message: text };
  }
  if (Object.keys(errors).length === 0) return { values, errors: {} };
  return { values: {}, errors: errors as FieldErrors<FormValues> };
}

/**
 * Returns the name of the tool that an error is about, with the field in the tool: "shop,
 * headers.X-Key: ".
 */
function toolNameAt({ tools }: FormValues, [, index, ...rest]: readonly PropertyKey[]): string {
  const tool = typeof index === "number" ? tools[index] : undefined;
  if (tool === undefined) return "";
  const name = tool.type === "http" ? tool.name : tool.type;
  return `${[name, rest.map(String).join(".")].filter((part) => part !== "").join(", ")}: `;
}

function parsedMetadata(text: string): AgentFields["metadata"] | undefined {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as AgentFields["metadata"];
  } catch {
    return undefined;
  }
}

/** Parses the limit of a run's cost; null is no limit. */
function parsedCost(
  text: string,
): TypedDollars | { readonly micros: null; readonly error?: never } {
  return text.trim() === "" ? { micros: null } : readDollars(text);
}
