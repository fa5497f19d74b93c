import type { MappingVariables } from "./mapping.ts";

/**
 * Matches line breaks and other control characters. With them, the value of a header could look
 * like further lines of the message.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced.
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

function oneLine(text: string): string {
  return text.replace(control, " ").toWellFormed();
}

/** The headers and query parameters that a trigger's settings choose. */
type ChosenValues = Pick<MappingVariables, "headers" | "query">;

/** Returns the values, each as one line. */
export function chosenValues({ headers, query }: ChosenValues): ChosenValues {
  return { headers: inLines(headers), query: inLines(query) };
}

// `fromEntries` defines own properties, even for the name `__proto__`.
const inLines = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [oneLine(name), oneLine(value)]),
  );

/**
 * Returns the chosen values as lines `name: value`; empty without values. A trigger without a
 * template shows them before the payload.
 */
export function valueLines(values: ChosenValues): string {
  const { headers, query } = chosenValues(values);
  return [...Object.entries(headers), ...Object.entries(query)]
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
