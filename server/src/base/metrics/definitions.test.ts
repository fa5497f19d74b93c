import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { metricDefinitions, supervisorMetrics } from "./definitions.ts";

const root = join(import.meta.dirname, "../../../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const definitions = { ...metricDefinitions, ...supervisorMetrics };

/** Names of the time series of all metrics. */
const series = new Set(
  Object.entries(definitions).flatMap(([name, { type }]) =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((suffix) => name + suffix) : name,
  ),
);
const namesIn = (text: string) => [...new Set(text.match(/\bbeckon_[a-z_]+/g))];

test("every metric that the Grafana dashboard uses exists, and the dashboard shows every metric", () => {
  const dashboard = JSON.parse(read("deploy/grafana/beckon.json"));
  const expressions: string[] = dashboard.panels.flatMap(
    ({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr),
  );
  const used = namesIn(expressions.join("\n"));
  expect(used.filter((name) => !series.has(name))).toEqual([]);
  const shown = used.map((name) => name.replace(/_bucket$/, ""));
  // These are not worth a panel: alerts use the first three, and the last one should stay 0.
  const hidden = [
    "beckon_heap_full",
    "beckon_heap_used_ratio",
    "beckon_lease_failing",
    "beckon_log_lines_dropped_total",
  ];
  expect(
    Object.keys(definitions)
      .filter((name) => !shown.includes(name))
      .sort(),
  ).toEqual(hidden);
});

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig: {
    readonly defaults: { readonly unit: string };
    readonly overrides: readonly {
      readonly matcher: { readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value: string }[];
    }[];
  };
}

test("the Grafana dashboard shows each quantile in seconds", () => {
  const { panels }: { panels: Panel[] } = JSON.parse(read("deploy/grafana/beckon.json"));
  const units = panels.flatMap(({ title, targets, fieldConfig: { defaults, overrides } }) =>
    targets
      .filter(({ expr }) => expr.includes("histogram_quantile"))
      .map(({ legendFormat }) => {
        const own = overrides.find(({ matcher }) => matcher.options === legendFormat)?.properties;
        return [title, own?.find(({ id }) => id === "unit")?.value ?? defaults.unit];
      }),
  );
  expect(units.length).toBeGreaterThan(10);
  expect(units).toEqual(units.map(([title]) => [title, "s"]));
});

test("every metric and label that the alert rules use exists", () => {
  const { groups } = parse(read("deploy/prometheus/beckon-alerts.yaml"));
  const rules: { alert: string; expr: string; annotations: object }[] = groups[0].rules;
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, expr, annotations } of rules) {
    const unknown = namesIn(expr).filter((name) => !series.has(name));
    expect([alert, unknown]).toEqual([alert, []]);
    expect(Object.keys(annotations)).toEqual(["summary", "action"]);
    for (const [, name = "", matchers = ""] of expr.matchAll(/(beckon_[a-z_]+)\{([^}]*)\}/g)) {
      const { labels } = definitions[name as keyof typeof definitions];
      for (const [, label] of matchers.matchAll(/([a-z_]+)\s*[=!]/g))
        expect([alert, labels]).toEqual([alert, expect.arrayContaining([label])]);
    }
  }
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly action: string };
}

function ruleOf(alert: string): Rule {
  const { groups } = parse(read("deploy/prometheus/beckon-alerts.yaml"));
  const rules: Rule[] = groups[0].rules;
  return rules.find((rule) => rule.alert === alert) ?? expect.fail(`no alert ${alert}`);
}

const exprOf = (alert: string) => ruleOf(alert).expr;

test("errors of Beckon are all 5xx, except 500 of the routes that start runs", () => {
  const [failing, all, ...others] = exprOf("BeckonErrors").split("> 0.05 *");
  expect(others).toEqual([]);
  const failedRuns = /unless rate\(beckon_http_requests_total\{status="500",\s+route=~"(.*)"\s+\}/;
  const patterns = [failing, all].map((requests) => failedRuns.exec(requests ?? "")?.[1] ?? "");
  expect(patterns[0]).toBe(patterns[1]);
  // Prometheus matches a pattern against the whole value of a label.
  const excluded = new RegExp(`^(?:${patterns[0]})$`);

  const { paths } = JSON.parse(read("docs/openapi.json"));
  type Methods = { post?: { responses: Record<string, { description?: string }> } };
  const routes = Object.entries<Methods>(paths).map(([path, { post }]) => ({
    route: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    startsRuns: post?.responses["500"]?.description?.includes("`ceiling_reached`") ?? false,
  }));
  const startingRuns = routes.filter(({ startsRuns }) => startsRuns).map(({ route }) => route);
  expect(startingRuns).toContain("/api/public/triggers/:token");
  expect(routes.filter(({ route }) => excluded.test(route)).map(({ route }) => route)).toEqual(
    startingRuns,
  );
});

test("an alert reports servers that are silent", () => {
  expect(exprOf("BeckonServersSilent")).toBe("beckon_processes_silent > 0");
});

test("an alert reports retention whose last complete pass is a day old, but not one without a pass", () => {
  expect(exprOf("BeckonRetentionBehind")).toBe(
    "time() - max(max_over_time(beckon_retention_last_pass_timestamp_seconds[2m]) > 0) > 86400\n",
  );
});

test("an alert reports events that are held back for 5 minutes", () => {
  expect(exprOf("BeckonEventsHeldBack")).toBe("max(beckon_events_held_back_seconds) > 300");
});

test("an alert reports runs that wait for a provider for 2 minutes", () => {
  expect(ruleOf("BeckonProviderDown")).toMatchObject({
    expr: 'max_over_time(beckon_runs_waiting{reason="provider"}[2m]) > 0',
    for: "2m",
  });
});

test("an alert reports a heap that is full, and another one warns before it is", () => {
  expect(exprOf("BeckonHeapFull")).toBe("beckon_heap_full > 0");
  const [, warning] = /^beckon_heap_used_ratio > (.*)$/.exec(exprOf("BeckonHeapAlmostFull")) ?? [];
  // The heap can be full from 0.85 on, and stays full until it is below 0.75: see heap-guard.ts.
  expect(Number(warning)).toBeLessThan(0.75);
});

test("the alert about the queue names all reasons for which runs wait", () => {
  const { annotations } = ruleOf("BeckonQueueOld");
  for (const reason of ["provider", "rate_limit", "limit", "memory"])
    expect(annotations.action).toContain(`beckon_runs_waiting{reason="${reason}"}`);
  expect(annotations.action).toContain("beckon_heap_full");
  expect(annotations.action).toContain("max_concurrent_runs");
});

test("docs/operate.md lists every metric with its type, labels and meaning", () => {
  const page = read("docs/operate.md");
  const rows = Object.entries(definitions).map(
    ([name, { type, labels, help }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
  );
  for (const row of rows) expect(page.split("\n")).toContain(row);
  expect(page.match(/^\| `beckon_.*$/gm)).toHaveLength(rows.length);
});

test("names follow the conventions of Prometheus", () => {
  for (const [name, { type, labels }] of Object.entries(definitions)) {
    expect(name).toMatch(/^beckon_[a-z]+(_[a-z]+)*$/);
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
    for (const label of labels)
      expect(label).not.toMatch(/workspace|agent|key|model|url|user|subscription|process/);
  }
});
