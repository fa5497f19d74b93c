import type { Connection, Submittable } from "pg";
import { messageOf } from "../../../errors.ts";
import { createExtractor, type Extractor } from "./extract-archive.ts";

/** What PostgreSQL sent for `BASE_BACKUP`. */
export interface BaseBackup {
  readonly extractor: Extractor;
  /** Position in the WAL at which the backup ended, in the form `X/Y`. */
  readonly end: string;
}

interface RowMessage {
  readonly fields: readonly (string | null)[];
}

/**
 * First byte of the CopyData messages, by their kind (PostgreSQL manual, "Streaming Replication
 * Protocol", BASE_BACKUP).
 */
const kinds = { newArchive: 0x6e, manifest: 0x6d, data: 0x64 } as const;

/**
 * Query that sends the replication command `BASE_BACKUP` through `pg`. This class reads the
 * response itself, because `pg` cannot read its sequence: two result sets, the files as CopyData
 * messages, and a final result set. PostgreSQL leaves out what a backup must not contain, adds
 * `backup_label`, and sends the WAL that was written meanwhile.
 */
export class BaseBackupQuery implements Submittable {
  readonly #manifest: Buffer[] = [];
  readonly #extractor: Extractor;
  readonly #finished = Promise.withResolvers<BaseBackup>();
  readonly #options: {
    readonly folder: string;
    readonly checkSpace: (bytes: number) => void;
  };
  #connection: Connection | undefined;
  #results = 0;
  #end = "";
  #isManifest = false;
  #failure: Error | undefined;

  /**
   * @param options `folder`: where the files are written. `checkSpace`: called before the files
   *   arrive, with PostgreSQL's estimate of their size in bytes; throws if there is not enough
   *   space.
   */
  constructor(options: {
    readonly folder: string;
    readonly checkSpace: (bytes: number) => void;
  }) {
    this.#options = options;
    this.#extractor = createExtractor(options.folder);
  }

  /** Resolves when all files are written. They are not synced. */
  get finished(): Promise<BaseBackup> {
    return this.#finished.promise;
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(
      "BASE_BACKUP (LABEL 'beckon', PROGRESS, CHECKPOINT 'fast', WAL, MANIFEST 'yes')",
    );
  }

  handleRowDescription(): void {
    this.#results++;
  }

  handleDataRow({ fields }: RowMessage): void {
    this.#attempt(() => {
      // Result sets: 1. where the backup began; 2. tablespaces, sizes in KiB; 3. where it ended.
      if (this.#results === 2) this.#options.checkSpace(Number(fields[2] ?? 0) * 1_024);
      if (this.#results === 3) this.#end = fields[0] ?? "";
    });
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#attempt(() => {
      const body = chunk.subarray(1);
      if (chunk[0] === kinds.manifest) this.#isManifest = true;
      if (chunk[0] !== kinds.data) return;
      if (this.#isManifest) this.#manifest.push(Buffer.from(body));
      else this.#extractor.write(body);
    });
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#attempt(() => {
      this.#extractor.end();
      // The file name that pg_verifybackup expects.
      this.#extractor.add("backup_manifest", Buffer.concat(this.#manifest));
      this.#finished.resolve({ extractor: this.#extractor, end: this.#end });
    });
  }

  handleError(error: Error): void {
    this.#extractor.close();
    this.#finished.reject(this.#failure ?? error);
  }

  /**
   * Calls `act`. If it throws, closes the connection and rejects `finished`. `pg` calls the
   * handlers and would not catch an error that they throw.
   */
  #attempt(act: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      act();
    } catch (thrown) {
      this.#failure = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
      this.#connection?.stream.destroy();
      this.handleError(this.#failure);
    }
  }
}
