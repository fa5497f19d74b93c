import { attempt } from "../errors.ts";
import type { Queryable } from "./check-master-key.ts";
import type { SecretBinding, SecretCipher } from "./secret-cipher.ts";

/**
 * A column that contains encrypted texts. `Row` has the columns from which `bindingOf` creates the
 * `SecretBinding` of a text.
 */
export interface EncryptedColumn<Row extends object> {
  readonly table: string;
  readonly column: string;
  /** Columns of the primary key, each with its SQL type. */
  readonly key: Readonly<Record<string, "text" | "bytea">>;
  /** Other columns that `bindingOf` needs. Default: none. */
  readonly otherColumns?: readonly (keyof Row & string)[];
  bindingOf(row: Row): SecretBinding;
}

/** The ciphers of the old and the new master key. */
export interface MasterKeyChange {
  readonly from: SecretCipher;
  readonly to: SecretCipher;
}

/** The numbers of texts that were re-encrypted, and that were not. */
export interface ReEncryption {
  readonly reEncrypted: number;
  /**
   * Number of texts that the old key could not decrypt, because they were altered or copied from
   * another row or column. They are not changed.
   */
  readonly unreadable: number;
}

/**
 * Rows per statement. More rows are faster in total, but concurrent transactions would wait longer
 * for row locks.
 */
const batch = 200;

/**
 * Returns a function that re-encrypts columns of one table, one after the other. Its `client` must
 * see the rows of all workspaces, whatever row-level security is configured.
 */
export function createReEncrypt<Row extends object>(...columns: readonly EncryptedColumn<Row>[]) {
  return async (client: Queryable, keys: MasterKeyChange): Promise<ReEncryption> => {
    let [reEncrypted, unreadable] = [0, 0];
    for (const column of columns) {
      const counts = await reEncryptColumn(client, column, keys);
      reEncrypted += counts.reEncrypted;
      unreadable += counts.unreadable;
    }
    return { reEncrypted, unreadable };
  };
}

/**
 * Re-encrypts the texts of a column that were encrypted with the old key. Each batch is a statement
 * of its own. If the process is killed, some texts are already encrypted with the new key, and the
 * next call re-encrypts the rest. A text that changes between its select and its update is not
 * overwritten. If its new value is encrypted with the old key too, the next call re-encrypts it.
 */
async function reEncryptColumn<Row extends object>(
  client: Queryable,
  { table, column, key, otherColumns = [], bindingOf }: EncryptedColumn<Row>,
  { from, to }: MasterKeyChange,
): Promise<ReEncryption> {
  const names = Object.keys(key);
  const columns = [...new Set([...names, ...otherColumns])].join(", ");
  const after = (index: number) =>
    `(${names.join(", ")}) > ` +
    `(${names.map((name, at) => `$${index + at}::${key[name]}`).join(", ")})`;
  const select = (isFirst: boolean) => `select ${columns}, ${column} as sealed_text from ${table}
    where ${column} like $1 ${isFirst ? "" : `and ${after(2)}`}
    order by ${names.join(", ")} limit ${batch}`;
  const update = `update ${table} as t set ${column} = fresh.sealed_text
    from unnest(${names.map((name, at) => `$${at + 3}::${key[name]}[]`).join(", ")}, $1::text[], $2::text[]) as fresh(${names.join(", ")}, old_text, sealed_text)
    where ${names.map((name) => `t.${name} = fresh.${name}`).join(" and ")} and t.${column} = fresh.old_text`;

  let [reEncrypted, unreadable] = [0, 0];
  for (let last: unknown[] = []; ; ) {
    const { rows } = await client.query<Row & { sealed_text: string }>(select(last.length === 0), [
      `${from.prefix}%`,
      ...last,
    ]);
    const end = rows.at(-1);
    if (end === undefined) return { reEncrypted, unreadable };
    const fresh = rows.flatMap((row) => {
      const secret = tryDecrypt(from, row.sealed_text, bindingOf(row));
      return secret === undefined ? [] : [{ row, encrypted: to.encrypt(secret, bindingOf(row)) }];
    });
    if (fresh.length > 0) {
      const keys = names.map((name) => fresh.map(({ row }) => columnOf(row, name)));
      await retryOnDeadlock(() =>
        client.query(update, [
          fresh.map(({ row }) => row.sealed_text),
          fresh.map(({ encrypted }) => encrypted),
          ...keys,
        ]),
      );
    }
    reEncrypted += fresh.length;
    unreadable += rows.length - fresh.length;
    last = names.map((name) => columnOf(end, name));
  }
}

function columnOf(row: object, name: string): unknown {
  return (row as Record<string, unknown>)[name];
}

function tryDecrypt(
  cipher: SecretCipher,
  encrypted: string,
  binding: SecretBinding,
): string | undefined {
  const decrypted = attempt(() => cipher.decrypt(encrypted, binding));
  return decrypted.ok ? decrypted.value : undefined;
}

/**
 * Retries a statement that PostgreSQL rolled back because of a deadlock (40P01), at most four
 * times. Deadlocks are possible because running servers lock rows in another order.
 */
async function retryOnDeadlock(statement: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await statement();
      return;
    } catch (thrown) {
      const isDeadlock = thrown instanceof Error && "code" in thrown && thrown.code === "40P01";
      if (!isDeadlock || attempt === 5) throw thrown;
    }
  }
}
