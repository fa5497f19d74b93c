import type { Tool } from "../fields.ts";
import { withoutNewSecrets } from "./secrets.ts";

/** The tools of an agent, by keys that are unique in it. */
export type ToolsByKey = Readonly<Record<string, Tool>>;

/**
 * Settings with the tools by their keys instead of in a list. Two people who change different tools
 * then do not cause a conflict.
 */
export type Mergeable<Fields> = {
  readonly [Name in keyof Fields]: Name extends "tools" ? ToolsByKey : Fields[Name];
};

interface WithTools {
  readonly tools?: readonly Tool[];
}

/** Returns the settings in the form in which they are merged. */
export function toMergeable<Fields extends WithTools>(fields: Fields): Mergeable<Fields> {
  const { tools } = fields;
  const byKey =
    tools === undefined
      ? fields
      : { ...fields, tools: Object.fromEntries(tools.map((tool) => [keyOf(tool), tool])) };
  return byKey as Mergeable<Fields>;
}

/** Returns the settings with the tools in a list. */
export function fromMergeable<Fields extends WithTools>(fields: Mergeable<Fields>): Fields {
  const { tools } = fields as { readonly tools?: ToolsByKey };
  const listed = tools === undefined ? fields : { ...fields, tools: Object.values(tools) };
  return listed as unknown as Fields;
}

/** Returns the labels of the tools for a `MergeDialog`, by the names of their fields. */
export function toolLabels(...versions: readonly ToolsByKey[]): Readonly<Record<string, string>> {
  const labels = versions.flatMap((tools) =>
    Object.entries(tools).map(([key, tool]) => [`tools.${key}`, `Tool ${nameOf(tool)}`]),
  );
  return Object.fromEntries(labels) as Readonly<Record<string, string>>;
}

/** Returns a tool as a `MergeDialog` shows it: without the values of new secrets. */
export function shownTool(tool: Tool | undefined): string {
  if (tool === undefined) return "(removed)";
  return JSON.stringify(withoutNewSecrets(tool, "(new, not shown)"), null, 2);
}

const nameOf = (tool: Tool) => (tool.type === "http" ? tool.name : tool.type);

/**
 * Returns the key of a tool. It has two words for an HTTP tool, so that no name of a tool is a
 * number, which objects sort, or `__proto__`, or the same as a type.
 */
const keyOf = (tool: Tool) => (tool.type === "http" ? `http ${tool.name}` : tool.type);
