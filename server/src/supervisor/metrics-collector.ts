import type { ChildProcess } from "node:child_process";
import type * as Prometheus from "prom-client";
import { undefinedAfter } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { type CollectedMetric, isOfDatabase, supervisorMetrics } from "../base/metrics/index.ts";
import { version } from "../base/version.ts";
import type { Collect } from "./messages.ts";

/** Maximum time to wait for the metrics of a server. */
const maxWaitMs = 2_000;

interface Server {
  /** The last metrics that the server has sent. */
  last: readonly CollectedMetric[];
  /**
   * Called when the server has responded to `requestId` or has exited; undefined if no request is
   * pending.
   */
  resolve: (() => void) | undefined;
  requestId: number;
  /** Whether the server did not respond in time to the last request. */
  isSilent: boolean;
}

/**
 * Collects the metrics of all servers over their channels and adds them up.
 *
 * A counter must never decrease, because Prometheus would take a decrease for a restart and count
 * the whole value again. So the last metrics of a server that does not respond in time are used,
 * and the counters of exited servers are kept. Increments between the last collection and a crash
 * are lost.
 *
 * Only one server is asked for the gauges of the database, if possible one that was not silent at
 * the previous request. A silent server's values of these gauges are left out, because old values
 * would mislead.
 */
export class MetricsCollector {
  readonly #prometheus: typeof Prometheus;
  readonly #log: Log;
  readonly #servers = new Map<ChildProcess, Server>();
  readonly #own: ReturnType<typeof createOwn>;
  /** Sums of the counters and histograms of exited servers. */
  #exited: readonly CollectedMetric[] = [];
  #collecting: Promise<string> | undefined;
  #requests = 0;

  private constructor(prometheus: typeof Prometheus, log: Log, wanted: number) {
    this.#prometheus = prometheus;
    this.#log = log;
    this.#own = createOwn(prometheus);
    this.#own.wanted.set(wanted);
  }

  /**
   * Creates a collector. Loads prom-client only here, because it takes some MiB of memory.
   * @param wanted number of servers that should run
   */
  static async create(log: Log, wanted: number): Promise<MetricsCollector> {
    return new MetricsCollector(await import("prom-client"), log, wanted);
  }

  /** Must be called when a server accepts requests. */
  ready(child: ChildProcess): void {
    this.#servers.set(child, { last: [], resolve: undefined, requestId: 0, isSilent: false });
  }

  /** Must be called with the metrics that a server has sent. */
  received(child: ChildProcess, id: number, metrics: readonly CollectedMetric[]): void {
    const server = this.#servers.get(child);
    if (server === undefined) return;
    server.last = metrics;
    if (id === server.requestId) server.resolve?.();
  }

  /**
   * Must be called when a server has exited.
   * @param isStopping whether Beckon is stopping; then the exit is not counted.
   */
  exited(child: ChildProcess, isStopping: boolean): void {
    const server = this.#servers.get(child);
    this.#servers.delete(child);
    if (!isStopping) this.#own.exits.inc();
    if (server === undefined) return;
    server.resolve?.();
    const summed = server.last.filter(({ type }) => isSummed(String(type)));
    this.#exited = sum([this.#exited, summed]);
  }

  /** Returns all metrics in the text format of Prometheus. Concurrent calls share a collection. */
  collect(): Promise<string> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = undefined;
    });
    return this.#collecting;
  }

  async #collect(): Promise<string> {
    const id = ++this.#requests;
    const asked = [...this.#servers];
    const [reader] = asked.find(([, { isSilent }]) => !isSilent) ?? asked[0] ?? [];
    let silent = 0;
    await Promise.all(
      asked.map(async ([child, server]) => {
        const request = { type: "collect", id, database: child === reader } as const;
        server.isSilent = !(await this.#ask(child, server, request));
        // A server that has exited meanwhile is not silent.
        if (!server.isSilent || !this.#servers.has(child)) return;
        server.last = server.last.filter(({ name }) => !isOfDatabase(name));
        silent++;
        this.#log.write("metrics could not be collected", {
          reason: "A server did not respond in time.",
        });
      }),
    );
    this.#own.processes.set(this.#servers.size);
    this.#own.silent.set(silent);
    const own = await this.#own.registry.getMetricsAsJSON();
    const current = [...this.#servers.values()].map(({ last }) => last);
    const all = [...current, this.#exited, own as unknown as readonly CollectedMetric[]];
    return this.#prometheus.AggregatorRegistry.aggregate(all as object[][] as never).metrics();
  }

  /** @returns whether the server sent its metrics in time, or exited */
  async #ask(child: ChildProcess, server: Server, request: Collect): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<true>();
    server.requestId = request.id;
    server.resolve = () => resolve(true);
    if (!child.connected) return false;
    child.send(request, () => {});
    const inTime = await undefinedAfter(promise, maxWaitMs);
    server.resolve = undefined;
    return inTime === true;
  }
}

function isSummed(type: string): boolean {
  return type === "counter" || type === "histogram";
}

/** Adds up counters and histograms, by name and labels. */
function sum(processes: readonly (readonly CollectedMetric[])[]): readonly CollectedMetric[] {
  const byName = new Map<string, CollectedMetric>();
  for (const metric of processes.flat()) {
    const before = byName.get(metric.name);
    if (before === undefined) {
      byName.set(metric.name, { ...metric, values: metric.values.map((each) => ({ ...each })) });
      continue;
    }
    const values = new Map(before.values.map((each) => [keyOf(each), each]));
    for (const value of metric.values) {
      const same = values.get(keyOf(value));
      if (same === undefined) before.values.push({ ...value });
      else same.value += value.value;
    }
  }
  return [...byName.values()];
}

function keyOf({ metricName = "", labels }: CollectedMetric["values"][number]): string {
  return `${metricName} ${JSON.stringify(labels)}`;
}

function createOwn({ Counter, Gauge, Registry }: typeof Prometheus) {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: keyof typeof supervisorMetrics, labelNames: string[] = []) =>
    new Gauge({ name, help: supervisorMetrics[name].help, labelNames, registers });
  gauge("beckon_build_info", ["version"]).labels(version).set(1);
  return {
    registry,
    processes: gauge("beckon_processes"),
    wanted: gauge("beckon_processes_wanted"),
    silent: gauge("beckon_processes_silent"),
    exits: new Counter({
      name: "beckon_process_exits_total",
      help: supervisorMetrics.beckon_process_exits_total.help,
      registers,
    }),
  };
}
