import type { Database } from "../base/database/index.ts";
import type { Log } from "../base/log.ts";
import type { Sealer } from "../base/secrets/index.ts";
import type { KeyUse } from "../keys/index.ts";
import type { Runtime } from "../runs/index.ts";
import type { FailedAuthentications } from "./failed-authentications.ts";

/** What the doors are built from. */
export interface Services {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly runtime: Runtime;
  /** Where callers reach this server, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly trustProxy: boolean;
  readonly keyUse: KeyUse;
  readonly failedAuthentications: FailedAuthentications;
}
