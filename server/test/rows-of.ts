import type { TestDatabase } from "./database.ts";

/** A table. The condition `where` selects the rows of the workspace with the id `$1`. */
interface TenantTable {
  readonly name: string;
  readonly where: string;
}

/** Tables of the installation, without rows of tenants. */
const installationTables = ["installation", "migrations", "processes", "verifications"];

/**
 * Returns every table with rows of workspaces or their members, from the catalog.
 *
 * @throws {Error} the owner of a table's rows cannot be determined.
 */
export async function tenantTables({ database }: TestDatabase): Promise<TenantTable[]> {
  const { rows } = await database.engine.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text) as columns from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relkind in ('r', 'p') and not c.relispartition
        and c.relnamespace = 'public'::regnamespace
      group by c.relname order by c.relname`,
  );
  const members = "(select user_id from members where workspace_id = $1)";
  return rows
    .filter(({ name }) => !installationTables.includes(name))
    .map(({ name, columns }) => {
      if (columns.includes("workspace_id")) return { name, where: "workspace_id = $1" };
      if (name === "workspaces") return { name, where: "id = $1" };
      if (name === "users") return { name, where: `id in ${members}` };
      if (columns.includes("user_id")) return { name, where: `user_id in ${members}` };
      throw new Error(`whose are the rows of ${name}? Say so in rows-of.ts`);
    });
}

/** Tables that a server changes in the background: the sums of the usage ledger. */
const backgroundTables = ["usage_days", "usage_rollups"];

/** Reads everything that a workspace has in the database. */
export interface RowReader {
  /**
   * Returns the row count and a hash of the rows of each table. A test compares two results to see
   * whether rows have changed. Excludes what the server writes with a delay, at a time that a test
   * does not know: a key's last use, and sums of usage.
   */
  marks(workspaceId: string): Promise<Readonly<Record<string, string>>>;
  /** Returns every id that occurs in any column of the workspace's rows. */
  ids(workspaceId: string): Promise<ReadonlySet<string>>;
}

export async function readRows(db: TestDatabase): Promise<RowReader> {
  const tables = (await tenantTables(db)).filter(({ name }) => !backgroundTables.includes(name));
  const ask = async (value: string, workspaceId: string) => {
    const selects = tables.map(
      ({ name, where }) =>
        `select '${name}' as name, (select ${value} from (select (to_jsonb(t) - 'last_used_at')::text as line from ${name} t where ${where}) r) as value`,
    );
    return (
      await db.database.engine.query<{ name: string; value: string | null }>(
        selects.join(" union all "),
        [workspaceId],
      )
    ).rows;
  };
  return {
    async marks(workspaceId) {
      const rows = await ask(
        "count(*) || ' ' || md5(string_agg(md5(line), '' order by md5(line)))",
        workspaceId,
      );
      return Object.fromEntries(rows.map(({ name, value }) => [name, value ?? "0"]));
    },
    async ids(workspaceId) {
      const rows = await ask(
        String.raw`(select string_agg(found[1], ' ') from regexp_matches(string_agg(line, ' '), '\y[a-z]{3}_[0-9a-z]{26}\y', 'g') found)`,
        workspaceId,
      );
      return new Set(rows.flatMap(({ value }) => value?.split(" ") ?? []));
    },
  };
}
