import type { MappingVariables } from "./mapping.ts";

/** Line breaks and other control characters: a value with them could pass as another line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Returns text as one line. */
export function oneLine(text: string): string {
  return text.replace(control, " ").toWellFormed();
}

/** The values of a request from which the chosen ones are taken. */
export interface ReceivedValues {
  /** Headers by their names in lower case, without credentials and signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each parameter once per value, in the order of the URL. */
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** Returns the headers and query parameters that a trigger's settings choose, each as one line. */
export function chosenValues(
  chosen: { readonly headers: readonly string[]; readonly query: readonly string[] },
  { headers, query }: ReceivedValues,
): Pick<MappingVariables, "headers" | "query"> {
  const parameters = new Map<string, string | string[]>();
  for (const name of chosen.query) {
    const values = query.filter(([each]) => each === name).map(([, value]) => oneLine(value));
    const [first] = values;
    if (first !== undefined) parameters.set(name, values.length === 1 ? first : values);
  }
  const shown = chosen.headers.flatMap((name): [string, string][] => {
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return value === undefined ? [] : [[name, oneLine(value)]];
  });
  // fromEntries defines own properties, also one that is called __proto__.
  return { headers: Object.fromEntries(shown), query: Object.fromEntries(parameters) };
}

/**
 * Returns the chosen values as lines `name: value`; empty without values. A trigger without a
 * template shows them before the payload.
 */
export function valueLines({
  headers,
  query,
}: Pick<MappingVariables, "headers" | "query">): string {
  return [...Object.entries(headers), ...Object.entries(query)]
    .flatMap(([name, value]) => [value].flat().map((each) => `${oneLine(name)}: ${each}`))
    .join("\n");
}

/** Returns the payload of a run without a template: the chosen values, an empty line, the payload. */
export function withoutTemplate(
  values: Pick<MappingVariables, "headers" | "query">,
  payloadText: string,
): string {
  const lines = valueLines(values);
  return lines === "" ? payloadText : `${lines}\n\n${payloadText}`;
}
