import type { Auth, FailedSignIns } from "../accounts/index.ts";
import type { OperatorProviders } from "../base/context.ts";
import type { Database } from "../base/database/index.ts";
import type { Egress, Transport } from "../base/egress/index.ts";
import type { Log } from "../base/log.ts";
import type { SecretCipher } from "../base/secrets/index.ts";
import type { KeyUse } from "../keys/index.ts";
import type { ModelLists } from "../providers/index.ts";
import type { RunServices } from "../runs/index.ts";
import type { FailedAuthentications } from "./failed-authentications.ts";
import type { Streams } from "./streams/index.ts";

/** What the HTTP routes need. */
export interface Services {
  readonly database: Database;
  readonly cipher: SecretCipher;
  readonly log: Log;
  readonly runs: RunServices;
  /** For addresses that a workspace chose. */
  readonly egress: Egress;
  /** For addresses that the operator chose. */
  readonly outbound: Transport;
  readonly modelLists: ModelLists;
  /** Absent: the operator set up no providers. */
  readonly operator?: OperatorProviders | undefined;
  /** URL at which clients reach this installation, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly trustProxy: boolean;
  readonly keyUse: KeyUse;
  readonly failedAuthentications: FailedAuthentications;
  readonly auth: Auth;
  /** Of passwords and one-time links, which are not compared above the limit. */
  readonly guesses: FailedAuthentications;
  readonly failedSignIns: FailedSignIns;
  readonly streams: Streams;
}
