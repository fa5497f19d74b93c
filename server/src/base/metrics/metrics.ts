import type {
  Counter,
  Histogram,
  MetricObjectWithValues,
  MetricValue,
  Registry,
} from "prom-client";
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelValues,
  metricDefinitions,
} from "./definitions.ts";

/** The values of one metric, in the form of prom-client. */
export type CollectedMetric = MetricObjectWithValues<
  MetricValue<string> & { readonly metricName?: string }
>;

/** What `read` of a gauge returns: a value, or one for each combination of labels. */
export type GaugeValues<Name extends GaugeName> = readonly (readonly [
  labels: LabelValues<Name>,
  value: number,
])[];

/** The metrics of one process. */
export interface Metrics {
  /** Adds `by` (default 1) to a counter. */
  count<Name extends CounterName>(name: Name, labels: LabelValues<Name>, by?: number): void;
  observe<Name extends HistogramName>(name: Name, labels: LabelValues<Name>, seconds: number): void;
  /**
   * Sets the function that reads a gauge when metrics are collected. If it throws, the collection
   * lacks the gauge.
   */
  gauge<Name extends GaugeName>(
    name: Name,
    read: () => GaugeValues<Name> | Promise<GaugeValues<Name>>,
  ): void;
  /** Sets the function that reads a counter that other code keeps. It must never decrease. */
  counterFrom(name: CounterName, read: () => number): void;
  /**
   * Returns all values.
   * @param database whether to read gauges from the database. Only one process does it for all.
   */
  collect(options: { readonly database: boolean }): Promise<readonly CollectedMetric[]>;
}

/** Metrics that count nothing, for an installation without BECKON_METRICS_PORT. */
const noMetrics: Metrics = {
  count: () => {},
  observe: () => {},
  gauge: () => {},
  counterFrom: () => {},
  collect: async () => [],
};

/** A counter or histogram with fixed labels. It spares prom-client's hashing of the labels. */
type Child = { inc(by?: number): void } & { observe(seconds: number): void };

/**
 * Maximum combinations of labels of one metric. All labels have few values, so this is reached only
 * because of a bug, which must not fill the memory.
 */
const maxChildren = 5_000;

/** Creates the metrics of this process. Loads prom-client only if they are on. */
export async function createMetrics({ isOn }: { readonly isOn: boolean }): Promise<Metrics> {
  if (!isOn) return noMetrics;
  const prometheus = await import("prom-client");
  const registry = new prometheus.Registry();
  const children = new Map<string, { readonly get: (labels: readonly string[]) => Child }>();
  const gauges = new Map<string, () => Promise<void>>();
  const counters = new Map<string, () => void>();

  for (const [name, definition] of Object.entries(metricDefinitions)) {
    const { type, help, labels } = definition;
    const options = { name, help, labelNames: [...labels], registers: [registry as Registry] };
    if (type === "counter") children.set(name, cache(new prometheus.Counter(options), labels));
    if (type === "histogram")
      children.set(
        name,
        cache(new prometheus.Histogram({ ...options, buckets: [...definition.buckets] }), labels),
      );
  }

  return {
    count: (name, labels, by = 1) =>
      children
        .get(name)
        ?.get(labels as unknown as readonly string[])
        .inc(by),
    observe: (name, labels, seconds) =>
      children
        .get(name)
        ?.get(labels as unknown as readonly string[])
        .observe(seconds),
    gauge(name, read) {
      const definition = { combine: "sum" as const, ...metricDefinitions[name] };
      const { help, labels, combine } = definition;
      const gauge = new prometheus.Gauge({
        name,
        help,
        labelNames: [...labels] as string[],
        aggregator: combine,
        registers: [],
      });
      gauges.set(name, async () => {
        // A gauge that cannot be read is missing, which is more honest than an old value.
        registry.removeSingleMetric(name);
        const values = await read();
        gauge.reset();
        for (const [given, value] of values)
          gauge.labels(...(given as unknown as string[])).set(value);
        registry.registerMetric(gauge);
      });
    },
    counterFrom(name, read) {
      let before = 0;
      counters.set(name, () => {
        const now = read();
        children
          .get(name)
          ?.get([])
          .inc(Math.max(0, now - before));
        before = now;
      });
    },
    async collect({ database }) {
      for (const update of counters.values()) update();
      await Promise.all(
        [...gauges].map(([name, update]) => {
          const isOfDatabase = "database" in metricDefinitions[name as GaugeName];
          if (!isOfDatabase || database) return update().catch(() => {});
          registry.removeSingleMetric(name);
          return undefined;
        }),
      );
      return registry.getMetricsAsJSON() as Promise<readonly CollectedMetric[]>;
    },
  };
}

function cache(
  metric: Counter<string> | Histogram<string>,
  labelNames: readonly string[],
): { readonly get: (labels: readonly string[]) => Child } {
  const known = new Map<string, Child>();
  return {
    get(labels) {
      const key = labels.length === 1 ? (labels[0] ?? "") : labels.join("\n");
      let child = known.get(key);
      if (child === undefined) {
        const values = known.size < maxChildren ? labels : labelNames.map(() => "other");
        child = metric.labels(...values) as unknown as Child;
        if (known.size < maxChildren) known.set(key, child);
      }
      return child;
    },
  };
}
