import { elapsed } from "../../base/clock.ts";
import type { OperatorProvider } from "../../base/context.ts";
import type { Log } from "../../base/log.ts";
import { fetchModelList, strictModelNames } from "../model-lists/index.ts";
import type { ModelServer } from "./model-servers.ts";

interface DiscoveryOptions {
  readonly servers: readonly ModelServer[];
  /** Ports of Beckon, and of what belongs to it, such as its database. They are never probed. */
  readonly ownPorts: ReadonlySet<number>;
  /** Sends the probes. It must allow requests to private addresses. */
  readonly fetch: typeof globalThis.fetch;
  readonly log: Log;
  /** Time limit of one probe in milliseconds. Default: 1,000. */
  readonly probeTimeoutMs?: number;
}

interface Probe {
  readonly done: Promise<void>;
  /** When it ended, by `elapsed()`; undefined while it is in progress. */
  endedAt: number | undefined;
}

/**
 * Finds model servers on this machine by requesting `GET /v1/models`. A server is found if it
 * returns a list that `strictModelNames` accepts. A found server is removed when a later probe
 * fails, except if that probe only timed out. Each process probes separately.
 */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #found = new Map<string, OperatorProvider>();
  readonly #probes = new Map<string, Probe>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** The servers that probes have found and that were not removed since. */
  get found(): readonly OperatorProvider[] {
    return this.#options.servers.flatMap(({ name }) => this.#found.get(name) ?? []);
  }

  /**
   * Returns the server with this name among those that are probed, whether or not it was found;
   * undefined if no server of this name is probed.
   */
  serverOf(name: string): ModelServer | undefined {
    return this.#options.servers.find((server) => server.name === name);
  }

  /**
   * Probes the servers whose last probe ended more than `maxAgeMs` milliseconds ago, and waits for
   * probes that are still in progress. The age does not count from the start of a probe: the probe
   * of a server that hangs would be too old when it ends, and each caller would wait for another.
   * Never rejects.
   */
  async probe(maxAgeMs: number, servers = this.#options.servers): Promise<void> {
    await Promise.all(servers.map((server) => this.#probeUnlessRecent(server, maxAgeMs)));
  }

  #probeUnlessRecent(server: ModelServer, maxAgeMs: number): Promise<void> {
    const last = this.#probes.get(server.name);
    if (last !== undefined && (last.endedAt === undefined || elapsed() - last.endedAt <= maxAgeMs))
      return last.done;
    const done = this.#probe(server).finally(() => {
      probe.endedAt = elapsed();
    });
    const probe: Probe = { done, endedAt: undefined };
    this.#probes.set(server.name, probe);
    return done;
  }

  async #probe({ name, port }: ModelServer): Promise<void> {
    const { ownPorts, fetch, log, probeTimeoutMs = 1_000 } = this.#options;
    // A server that the first probe finds is not logged, because the startup message shows it.
    const isFirst = !this.#probes.has(name);
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const list = ownPorts.has(port)
      ? undefined
      : await fetchModelList(
          fetch,
          { url: `${baseUrl}/models`, headers: { accept: "application/json" } },
          strictModelNames,
          probeTimeoutMs,
        );
    const before = this.#found.get(name);
    if (list?.error === null) {
      const { models } = list;
      const [kind, origin] = ["openai-compatible", "discovered"] as const;
      this.#found.set(name, { name, kind, origin, baseUrl, apiKey: undefined, models });
      if (before === undefined && !isFirst) log.write("model server found", { provider: name });
    } else if (!list?.timedOut && this.#found.delete(name)) {
      // A server that timed out may only be busy, so only servers that failed in another way are
      // removed.
      log.write("model server gone", { provider: name });
    }
  }
}
