const labels: Readonly<Record<string, string>> = {
  invoke: "API",
  trigger: "Trigger",
  draft: "Draft",
};

/**
 * Returns in words what started a run. A source that only a later version of Beckon has is shown
 * unchanged.
 */
export function sourceLabel(source: string): string {
  return Object.hasOwn(labels, source) ? (labels[source] ?? source) : source;
}
