import { labels } from "../settings/fields.ts";

const settings: Readonly<Record<string, string>> = { ...labels, provider_id: "Provider" };
/** Groups whose names are left out, because the names of their fields are clear without them. */
const groups = ["model_settings", "limits"];

/** Names of the fields of tools and functions, as in their form. Others are shown unchanged. */
const toolFields: Readonly<Record<string, string>> = {
  name: "Name",
  description: "Description",
  type: "Type",
  allowed_hosts: "Allowed hosts",
  timeout_seconds: "Time limit of a call",
  max_response_bytes: "Size of a response",
  max_calls_per_run: "Calls in a run",
  operations: "Functions",
  method: "Method",
  url: "URL",
  headers: "Headers",
  query: "Query",
  parameters: "Parameters",
  body: "Body",
  body_type: "Body is sent as",
  safe_to_repeat: "Safe to repeat",
  idempotency_header: "Header for the idempotency key",
};
const functionFields: Readonly<Record<string, string>> = {
  ...toolFields,
  description: "What it does",
};
/** Lists of a tool and of its schemas. */
const lists = [
  "tools",
  "operations",
  "allowed_hosts",
  "type",
  "enum",
  "examples",
  "required",
  "anyOf",
];
/** Objects whose keys were chosen by a person. */
const maps = ["headers", "query", "properties"];

/**
 * Returns the name of a field for people: "Tool 1 › Function 2 › URL".
 * @param pointer JSON Pointer (RFC 6901) within a version
 */
export function fieldName(pointer: string): string {
  const segments = pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  const [first = ""] = segments;
  const [field = "", ...inner] =
    segments.length > 1 && groups.includes(first) ? segments.slice(1) : segments;
  const words = [nameIn(settings, field)];
  // Empty behind an item of a list and behind a key that a person chose.
  let parent = field;
  /** The list of which `parent` is an item; empty if it is none. */
  let itemOf = "";
  for (const segment of inner) {
    if (lists.includes(parent) && /^\d+$/.test(segment)) {
      // The number of an item is added to the singular of the list: "Tools" becomes "Tool 1".
      words.push(`${words.pop()?.replace(/s$/, "")} ${Number(segment) + 1}`);
      itemOf = parent;
      parent = "";
    } else if (field === "metadata" || maps.includes(parent)) {
      words.push(segment);
      parent = "";
    } else {
      const isOfFunction = itemOf === "operations";
      words.push(nameIn(isOfFunction ? functionFields : toolFields, segment));
      parent = segment;
      itemOf = "";
    }
  }
  return words.join(" › ");
}

const nameIn = (names: Readonly<Record<string, string>>, field: string) =>
  (Object.hasOwn(names, field) ? names[field] : undefined) ?? field;
