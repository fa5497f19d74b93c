const names: Readonly<Record<string, string>> = {
  url: "URL",
  allowed_hosts: "Allowed hosts",
  max_answer_bytes: "Maximum response size",
  max_output_tokens: "Maximum output tokens",
  max_cost_micros: "Maximum cost of a run",
  reserve_output_tokens: "Reserved output tokens",
  max_steps: "Maximum steps",
  max_concurrent_runs: "Maximum concurrent runs",
  max_queued_runs: "Maximum queued runs",
  max_attempts: "Maximum attempts",
  max_calls_per_run: "Maximum calls per run",
  max_response_bytes: "Maximum response size",
  timeout_seconds: "Timeout in seconds",
};
/** Groups whose names are left out, because the names of their fields are clear without them. */
const groups = ["model_settings", "limits"];

/**
 * Returns the name of a field for people: "Tool 1 › Operation 2 › URL".
 * @param pointer JSON Pointer (RFC 6901) within a version
 */
export function fieldName(pointer: string): string {
  const segments = pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  const [first = ""] = segments;
  const words: string[] = [];
  for (const segment of segments.length > 1 && groups.includes(first)
    ? segments.slice(1)
    : segments) {
    const last = words.length - 1;
    // The number of an item is added to the singular of the list's name: "Tools" becomes "Tool 1".
    if (/^\d+$/.test(segment) && last >= 0)
      words[last] = `${words[last]?.replace(/s$/, "")} ${Number(segment) + 1}`;
    // Names of headers, parameters and metadata were chosen by a person, so they are shown
    // unchanged.
    else
      words.push(
        (Object.hasOwn(names, segment) ? names[segment] : undefined) ??
          (words.length > 0 && !known.test(segment) ? segment : title(segment)),
      );
  }
  return words.join(" › ");
}

const known = /^(name|description|headers|query|operations|method|parameters|body|type|stream)$/;
const title = (segment: string) =>
  segment.charAt(0).toUpperCase() + segment.slice(1).replaceAll("_", " ");
