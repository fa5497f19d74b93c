/**
 * Summaries of events, for readers that show the progress of many runs. A summary has all fields of
 * `data` except texts, arguments and results. For pages of events, the database computes the
 * summaries, so that it does not send the contents to this process. Streams compute summaries from
 * events in memory. The tests check that both results are equal.
 */

/** Fields of an event's `data` that a summary does not have. */
const contents = ["arguments", "result", "output"];
/** Fields of a part of a model's response that a summary does not have. */
const partContents = ["text", "arguments", "provider_metadata"];

const sqlArray = (names: readonly string[]) => `'{${names.join(",")}}'::text[]`;

/**
 * Returns SQL for the `data` of an event's summary.
 * @param data SQL of the event's `data`, a jsonb object.
 */
export function summarizedData(data: string): string {
  return `(${data} - ${sqlArray(contents)}
    || case when jsonb_typeof(${data} -> 'output') = 'string' then
      jsonb_build_object('output_bytes', octet_length(${data} ->> 'output')) else '{}' end
    || case when jsonb_typeof(${data} -> 'parts') = 'array' then
      jsonb_build_object('parts', (
        select coalesce(jsonb_agg(part - ${sqlArray(partContents)} || jsonb_build_object(
          'bytes', octet_length(coalesce(part ->> 'text', part ->> 'arguments', ''))
        ) order by position), '[]')
        from jsonb_array_elements(${data} -> 'parts') with ordinality as parts (part, position)
      )) else '{}' end)`;
}

/** Fields without a value, which `JSON.stringify` leaves out. */
const valueless = (names: readonly string[]): Readonly<Record<string, undefined>> =>
  Object.fromEntries(names.map((name) => [name, undefined]));
const noContents = valueless(contents);
const noPartContents = valueless(partContents);

/**
 * Returns a copy of the event with the `data` of its summary, for `JSON.stringify`: the fields that
 * a summary does not have are undefined. Returns the event itself if its summary has the same
 * `data`.
 */
export function summarize<E extends { readonly data: object }>(event: E): E {
  const data: Readonly<Record<string, unknown>> = { ...event.data };
  const { output, parts } = data;
  if (parts === undefined && !contents.some((name) => name in data)) return event;
  return {
    ...event,
    data: {
      ...data,
      ...noContents,
      ...(typeof output === "string" ? { output_bytes: Buffer.byteLength(output) } : {}),
      ...(Array.isArray(parts) ? { parts: parts.map(summarizePart) } : {}),
    },
  };
}

function summarizePart(part: Readonly<Record<string, unknown>>): object {
  const content = part.text ?? part.arguments ?? "";
  return { ...part, ...noPartContents, bytes: Buffer.byteLength(String(content)) };
}
