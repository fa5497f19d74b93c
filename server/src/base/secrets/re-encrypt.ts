import { attempt } from "../errors.ts";
import type { Queryable } from "./check-master-key.ts";
import type { SecretBinding, SecretCipher } from "./secret-cipher.ts";

/** Where sealed texts are kept. `Row`: what the place of each is made of. */
export interface SealedColumn<Row extends object> {
  readonly table: string;
  readonly column: string;
  /** The primary key: each column with its type. */
  readonly key: Readonly<Record<string, "text" | "bytea">>;
  /** Further columns that `placeOf` needs. */
  readonly beside?: readonly (keyof Row & string)[];
  placeOf(row: Row): SecretBinding;
}

/** From one master key to another. */
export interface Resealing {
  readonly from: SecretCipher;
  readonly to: SecretCipher;
}

/** What a change of the master key has encrypted anew. */
export interface Resealed {
  readonly table: string;
  readonly resealed: number;
  /** Altered or moved; they are left as they are, since they did not open before either. */
  readonly unreadable: number;
}

/** Rows of one statement: enough to be quick, few enough not to keep a server that rotates one of them waiting. */
const batch = 200;

/**
 * Seals with the new key what the old one has sealed in this column. Each batch is a statement of its own, so a kill at any moment leaves
 * rows of either key, and the next call goes on with those of the old one. A row that somebody else changes meanwhile is left to them.
 * `client` sees all workspaces.
 */
export async function resealColumn<Row extends object>(
  client: Queryable,
  { table, column, key, beside = [], placeOf }: SealedColumn<Row>,
  { from, to }: Resealing,
): Promise<Resealed> {
  const names = Object.keys(key);
  const columns = [...new Set([...names, ...beside])].join(", ");
  const after = (place: number) =>
    `(${names.join(", ")}) > (${names.map((name, at) => `$${place + at}::${key[name]}`).join(", ")})`;
  const select = (isFirst: boolean) => `select ${columns}, ${column} as sealed_text from ${table}
    where ${column} like $1 ${isFirst ? "" : `and ${after(2)}`} order by ${names.join(", ")} limit ${batch}`;
  const update = `update ${table} as t set ${column} = fresh.sealed_text
    from unnest(${names.map((name, at) => `$${at + 3}::${key[name]}[]`).join(", ")}, $1::text[], $2::text[]) as fresh(${names.join(", ")}, old_text, sealed_text)
    where ${names.map((name) => `t.${name} = fresh.${name}`).join(" and ")} and t.${column} = fresh.old_text`;

  let [resealed, unreadable] = [0, 0];
  for (let last: unknown[] = []; ; ) {
    const { rows } = await client.query<Row & { sealed_text: string }>(select(last.length === 0), [
      `${from.prefix}%`,
      ...last,
    ]);
    const end = rows.at(-1);
    if (end === undefined) return { table, resealed, unreadable };
    const fresh = rows.flatMap((row) => {
      const secret = openedBy(from, row.sealed_text, placeOf(row));
      return secret === undefined ? [] : [{ row, sealed: to.encrypt(secret, placeOf(row)) }];
    });
    if (fresh.length > 0) {
      const keys = names.map((name) => fresh.map(({ row }) => member(row, name)));
      await repeated(() =>
        client.query(update, [
          fresh.map(({ row }) => row.sealed_text),
          fresh.map(({ sealed }) => sealed),
          ...keys,
        ]),
      );
    }
    resealed += fresh.length;
    unreadable += rows.length - fresh.length;
    last = names.map((name) => member(end, name));
  }
}

function member(row: object, name: string): unknown {
  return (row as Record<string, unknown>)[name];
}

function openedBy(cipher: SecretCipher, sealed: string, place: SecretBinding): string | undefined {
  const opened = attempt(() => cipher.decrypt(sealed, place));
  return opened.ok ? opened.value : undefined;
}

/** Servers that are running lock rows in an order of their own; PostgreSQL then undoes one of the two, perhaps ours (40P01). */
async function repeated(statement: () => Promise<unknown>): Promise<void> {
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
