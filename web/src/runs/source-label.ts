const labels: Readonly<Record<string, string>> = {
  invoke: "API",
  trigger: "Trigger",
  draft: "Draft",
};

/** Returns what started a run, in words. A source of a later version is shown as it is. */
export function sourceLabel(source: string): string {
  return Object.hasOwn(labels, source) ? (labels[source] ?? source) : source;
}
