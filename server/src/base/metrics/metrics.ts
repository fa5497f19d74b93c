import type { Counter, MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import { undefinedAfter } from "../clock.ts";
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  isOfDatabase,
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
   * Sets the function that reads a gauge when metrics are collected. If it throws or takes longer
   * than a second, the collection lacks the gauge.
   */
  gauge<Name extends GaugeName>(
    name: Name,
    read: () => GaugeValues<Name> | Promise<GaugeValues<Name>>,
  ): void;
  /** Sets the function that reads a counter kept by other code. Its value must never decrease. */
  counterFrom(name: CounterName, read: () => number): void;
  /**
   * Returns all values.
   * @param database whether to read gauges from the database. Only one process does, because the
   *   values are the same for all processes.
   */
  collect(options: { readonly database: boolean }): Promise<readonly CollectedMetric[]>;
}

/** Metrics that record nothing, for an installation without BECKON_METRICS_PORT. */
const noMetrics: Metrics = {
  count: () => {},
  observe: () => {},
  gauge: () => {},
  counterFrom: () => {},
  collect: async () => [],
};

/** A counter or histogram with fixed labels. */
interface Child {
  add(value: number): void;
}

/**
 * Maximum combinations of labels of one metric. All labels have few values, so this is reached only
 * because of a bug, which must not fill the memory.
 */
const maxChildren = 5_000;

/**
 * Maximum milliseconds to read a gauge. The supervisor waits twice as long for all metrics. Without
 * this limit, it would count a process with a slow database as silent.
 */
const maxReadMs = 1_000;

/** Creates the metrics of this process. Loads prom-client only if metrics are on. */
export async function createMetrics({ isOn }: { readonly isOn: boolean }): Promise<Metrics> {
  if (!isOn) return noMetrics;
  const prometheus = await import("prom-client");
  const registry = new prometheus.Registry();
  const children = new Map<string, { readonly get: (labels: readonly string[]) => Child }>();
  const gauges = new Map<string, () => Promise<void>>();
  const counters = new Map<string, () => void>();
  /** Functions that add to prom-client's counters what was counted since the last collection. */
  const pending: (() => void)[] = [];

  for (const [name, definition] of Object.entries(metricDefinitions)) {
    const { type, help, labels } = definition;
    const options = { name, help, labelNames: [...labels], registers: [registry as Registry] };
    if (type === "counter") {
      const counter = new prometheus.Counter(options);
      children.set(
        name,
        createCache(labels, (values) => counterChild(counter, values, pending)),
      );
    } else if (type === "histogram") {
      const histogram = new prometheus.Histogram({ ...options, buckets: [...definition.buckets] });
      children.set(
        name,
        createCache(labels, (values) => {
          const child = histogram.labels(...values);
          return { add: (seconds) => child.observe(seconds) };
        }),
      );
    }
  }

  return {
    count: (name, labels, by = 1) =>
      children
        .get(name)
        ?.get(labels as unknown as readonly string[])
        .add(by),
    observe: (name, labels, seconds) =>
      children
        .get(name)
        ?.get(labels as unknown as readonly string[])
        .add(seconds),
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
        // A gauge that cannot be read is left out, because an old value would mislead.
        registry.removeSingleMetric(name);
        const values = await undefinedAfter(Promise.resolve(read()), maxReadMs);
        if (values === undefined) return;
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
          .add(Math.max(0, now - before));
        before = now;
      });
    },
    async collect({ database }) {
      for (const update of [...counters.values(), ...pending]) update();
      await Promise.all(
        [...gauges].map(([name, update]) => {
          if (!isOfDatabase(name) || database) return update().catch(() => {});
          registry.removeSingleMetric(name);
          return undefined;
        }),
      );
      return registry.getMetricsAsJSON() as Promise<readonly CollectedMetric[]>;
    },
  };
}

/**
 * Returns a counter that adds increments up and passes the sum to prom-client when metrics are
 * collected: prom-client hashes the labels for each increment.
 */
function counterChild(
  counter: Counter<string>,
  labels: readonly string[],
  pending: (() => void)[],
): Child {
  let sum = 0;
  pending.push(() => {
    if (sum > 0) counter.labels(...labels).inc(sum);
    sum = 0;
  });
  return {
    add(value) {
      sum += value;
    },
  };
}

function createCache(
  labelNames: readonly string[],
  create: (labels: readonly string[]) => Child,
): { readonly get: (labels: readonly string[]) => Child } {
  const known = new Map<string, Child>();
  let others: Child | undefined;
  return {
    get(labels) {
      const key = labels.length === 1 ? (labels[0] ?? "") : labels.join("\n");
      const before = known.get(key);
      if (before !== undefined) return before;
      if (known.size >= maxChildren) {
        others ??= create(labelNames.map(() => "other"));
        return others;
      }
      const child = create(labels);
      known.set(key, child);
      return child;
    },
  };
}
