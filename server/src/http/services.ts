import type { Auth, FailedSignIns } from "../accounts/index.ts";
import type { OperatorProviders } from "../base/context.ts";
import type { Database } from "../base/database/index.ts";
import type { Egress, Transport } from "../base/egress/index.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics/index.ts";
import type { Retention } from "../base/retention/index.ts";
import type { SecretCipher } from "../base/secrets/index.ts";
import type { Tracing } from "../base/tracing/index.ts";
import type { DeliveryServices } from "../deliveries/index.ts";
import type { KeyUse } from "../keys/index.ts";
import type { LimitServices } from "../limits/index.ts";
import type { MappingServices } from "../mapping/index.ts";
import type { PriceServices } from "../prices/index.ts";
import type { ModelLists } from "../providers/index.ts";
import type { Recorder } from "../received/index.ts";
import type { RunServices } from "../runs/index.ts";
import type { FailedAuthentications } from "./failed-authentications.ts";
import type { Streams } from "./streams/index.ts";

/** The services that the HTTP routes use. */
export interface Services extends PriceServices, LimitServices, DeliveryServices, MappingServices {
  /** Whether the process serves only its probes, not the API and the dashboard. */
  readonly servesOnlyProbes: boolean;
  readonly database: Database;
  readonly cipher: SecretCipher;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "count" | "observe">;
  readonly tracing: Tracing | undefined;
  readonly runs: RunServices;
  /** Sends requests to addresses that members of a workspace chose, within the egress rules. */
  readonly egress: Egress;
  /** Sends requests to any address. Only for addresses that the operator chose. */
  readonly unrestricted: Transport;
  readonly modelLists: ModelLists;
  /** The providers that the operator set up; absent if there are none. */
  readonly operator?: OperatorProviders | undefined;
  /** URL at which clients reach this installation, without a trailing slash. */
  readonly publicUrl: () => string;
  /** How long rows are kept. */
  readonly retention: Retention;
  /** Number of proxies before Beckon; see `addressOf`. */
  readonly trustedProxies: number;
  readonly keyUse: KeyUse;
  readonly failedAuthentications: FailedAuthentications;
  readonly auth: Auth;
  /**
   * Counts wrong passwords and invalid one-time links by client address. If an address has reached
   * the limit, passwords and links from it are rejected without being compared.
   */
  readonly failedPasswords: FailedAuthentications;
  readonly failedSignIns: FailedSignIns;
  readonly streams: Streams;
  /** Records received requests that start no run. */
  readonly recorder: Recorder;
}
