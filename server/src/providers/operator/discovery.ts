import { elapsed } from "../../base/clock.ts";
import type { OperatorProvider } from "../../base/context.ts";
import type { Log } from "../../base/log.ts";
import { fetchModelList, strictModelNames } from "../model-lists/index.ts";
import type { ModelServer } from "./model-servers.ts";

interface DiscoveryOptions {
  readonly servers: readonly ModelServer[];
  /** Ports on which Beckon or its database listens: they are never probed. */
  readonly ownPorts: ReadonlySet<number>;
  /** Reaches private addresses. */
  readonly fetch: typeof globalThis.fetch;
  readonly log: Log;
  /** Milliseconds of one probe. Default 1,000. */
  readonly probeTimeoutMs?: number;
}

/**
 * Finds model servers on this machine. A server counts as found as long as `GET /v1/models` returns
 * a list in OpenAI's exact form. Each process probes for itself.
 */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #found = new Map<string, OperatorProvider>();
  readonly #probes = new Map<string, { readonly at: number; readonly done: Promise<void> }>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** The servers that the last probes found. */
  get found(): readonly OperatorProvider[] {
    return this.#options.servers.flatMap(({ name }) => this.#found.get(name) ?? []);
  }

  /** Returns the server of this name, whether it was found or not. */
  serverOf(name: string): ModelServer | undefined {
    return this.#options.servers.find((server) => server.name === name);
  }

  /** Probes the servers whose last probe began more than `maxAgeMs` ago. Never rejects. */
  async probe(maxAgeMs: number, servers = this.#options.servers): Promise<void> {
    await Promise.all(servers.map((server) => this.#probeUnlessRecent(server, maxAgeMs)));
  }

  #probeUnlessRecent(server: ModelServer, maxAgeMs: number): Promise<void> {
    const last = this.#probes.get(server.name);
    if (last !== undefined && elapsed() - last.at <= maxAgeMs) return last.done;
    const done = this.#probe(server);
    this.#probes.set(server.name, { at: elapsed(), done });
    return done;
  }

  async #probe({ name, port }: ModelServer): Promise<void> {
    const { ownPorts, fetch, log, probeTimeoutMs = 1_000 } = this.#options;
    // What a start finds is in its greeting.
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
      if (before === undefined && !isFirst) log.info({ provider: name }, "model server found");
    } else if (!list?.timedOut && this.#found.delete(name)) {
      // One that is busy stays.
      log.info({ provider: name }, "model server gone");
    }
  }
}
