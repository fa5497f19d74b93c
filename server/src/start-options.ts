import type { EgressTestHooks, Lookups } from "./base/egress/index.ts";
import type { HeapGuard } from "./base/heap-guard.ts";
import type { Log } from "./base/log.ts";
import type { Config } from "./config.ts";
import type { SenderOptions } from "./deliveries/index.ts";
import type { Tool } from "./engine/index.ts";
import type { ConnectionLimits, StreamLimits } from "./http/index.ts";
import type { ModelServer } from "./providers/index.ts";
import type { PruningOptions } from "./retention/index.ts";

/** How one server process is started. */
export interface StartOptions {
  /**
   * The settings. `databaseUrl` and `masterKey` are required; the supervisor passes them to its
   * servers if the operator has not set them.
   */
  readonly config: Config;
  readonly processId?: string;
  /**
   * Ids of earlier processes that have exited, so that their runs are resumed at once. `all` stands
   * for all registered processes except this one. Default: none.
   */
  readonly exited?: readonly string[] | "all";
  /** The operator's own tools, which every agent gets. Default: none. */
  readonly tools?: readonly Tool[];
  /**
   * Whether the result of this startup is printed for a person. If true, the startup reveals the
   * demo agent's secrets. With `config.setupLink`, it issues a new link to create the first owner's
   * account, if there is no owner. Otherwise it revokes all setup links.
   */
  readonly setup?: boolean;
  /** Limits of event streams that replace the defaults. */
  readonly streamLimits?: Partial<StreamLimits>;
  /** Limits of connections that replace the defaults. */
  readonly connectionLimits?: Partial<ConnectionLimits>;
  /**
   * Descriptor of a socket that is bound to HOST and PORT and shared by all servers. If undefined,
   * this server binds its own socket.
   */
  readonly listenFd?: number | undefined;
  /** Heap guard to use; by default a new one. It is stopped when the server stops. */
  readonly heap?: HeapGuard;
  /** Model servers for which startup probes this machine; by default `modelServers`. */
  readonly modelServers?: readonly ModelServer[];
  /** Looks up the hosts of URLs that tenants chose. Default: the result of `createLookups`. */
  readonly lookups?: Lookups;
  /** Time limits of the discovery of model servers, in milliseconds. */
  readonly discovery?: {
    /**
     * Time that startup waits for model servers. A server that responds later also becomes a
     * provider, but is missing in the `providers` that `start` returns. Default: 400.
     */
    readonly waitMs?: number;
    /** Time of one probe. Default: that of `Discovery`. */
    readonly probeTimeoutMs?: number;
  };
  /** Limits of deliveries that replace the defaults, and functions that tests replace. */
  readonly deliveries?: Partial<
    Pick<SenderOptions, "maxPending" | "maxFailingSeconds" | "sweepMs" | "timeoutMs">
  > & {
    readonly testHooks?: EgressTestHooks;
  };
  /** When rows that are older than their retention are deleted. Default: `defaultPruning`. */
  readonly pruning?: PruningOptions;
  /** Number of polls of the worker from one sweep to the next. Default: `defaultPollsPerSweep`. */
  readonly pollsPerSweep?: number;
  /**
   * Called when the database connections lead to another PostgreSQL cluster than before. The
   * process must then exit at once, without `stop`, and be started again: its positions in the
   * order of events are wrong there, and only a startup corrects those in the database. Default:
   * none, the case is only logged.
   */
  readonly onOtherCluster?: () => void;
  /**
   * Called with the new id when this process was declared dead and continues under another id.
   * Default: none.
   */
  readonly onNewProcessId?: (id: string) => void;
  /**
   * Called when this process begins to execute runs, shortly before its startup ends. Default:
   * none.
   */
  readonly onExecuting?: () => void;
  /** Default: a log with the levels and the format of the settings. */
  readonly log?: Log;
}
