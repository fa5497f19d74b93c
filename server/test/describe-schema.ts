import type { Database } from "../src/base/database/index.ts";

type Queryable = Pick<Database["engine"], "query">;

const heading = `-- The schema after all migrations, made from the catalog: \`node script/schema.ts\` writes it, a test compares it.
-- For readers; nothing is created from it. The reasons are in the migrations.
`;

/**
 * The schema as SQL, the same whatever the order in which the migrations came to it, and whoever owns it.
 * @throws when there is something in it that would be left out.
 */
export async function describeSchema(database: Queryable): Promise<string> {
  const unknown = await lines(database, leftOut);
  if (unknown.length > 0) throw new Error(`describe-schema.ts has to learn to describe: ${unknown.join(", ")}`);
  return `${[heading, ...(await lines(database, functions)), ...(await lines(database, tables))].join("\n")}`;
}

/** Rows of one text each. */
async function lines(database: Queryable, text: string): Promise<string[]> {
  const { rows } = await database.query<{ line: string }>(text);
  return rows.map((row) => row.line);
}

const ours = "'public'::regnamespace";

const leftOut = `
  select format('%s (a relation of kind %s)', relname, relkind) as line from pg_class where relnamespace = ${ours} and relkind not in ('r', 'i')
  union all select format('type %s', typname) from pg_type where typnamespace = ${ours} and typtype not in ('c', 'b')
  union all select format('column %s of %s', attname, attrelid::regclass) from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = ${ours} and c.relkind = 'r' and attnum > 0 and not attisdropped and (attidentity <> '' or attgenerated <> '')
  union all select format('inheritance of %s', inhrelid::regclass) from pg_inherits`;

const functions = `
  select pg_get_functiondef(oid) || ';' || E'\\n' as line from pg_proc where pronamespace = ${ours} order by proname collate "C"`;

/** A table with its columns and constraints, then its indexes that no constraint has made, then its policies and triggers. */
const tables = `
  select format(E'create table %s (\\n%s\\n)%s;\\n%s', c.relname,
    (select string_agg('  ' || member, E',\\n' order by place, member collate "C") from (
      select attnum as place, concat_ws(' ', attname, format_type(atttypid, atttypmod), case when attnotnull then 'not null' end,
        'default ' || pg_get_expr(adbin, adrelid)) as member
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = c.oid and attnum > 0 and not attisdropped
      union all
      -- PostgreSQL 18 keeps "not null" as constraints, too.
      select 10000, format('constraint %s %s', conname, pg_get_constraintdef(oid)) from pg_constraint where conrelid = c.oid and contype <> 'n'
    ) as members),
    ' with (' || array_to_string(c.reloptions, ', ') || ')',
    concat(
      (select string_agg(pg_get_indexdef(indexrelid) || E';\\n', '' order by indexrelid::regclass::text collate "C") from pg_index
        where indrelid = c.oid and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))),
      case when c.relrowsecurity then format(E'alter table %s enable row level security;\\n', c.relname) end,
      case when c.relforcerowsecurity then format(E'alter table %s force row level security;\\n', c.relname) end,
      (select string_agg(format(E'create policy %s on %s as %s for %s to %s%s%s;\\n', polname, c.relname,
          case when polpermissive then 'permissive' else 'restrictive' end,
          case polcmd when '*' then 'all' when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' else 'delete' end,
          case when polroles = '{0}' then 'public' else polroles::regrole[]::text end,
          ' using (' || pg_get_expr(polqual, polrelid) || ')', ' with check (' || pg_get_expr(polwithcheck, polrelid) || ')'), '' order by polname)
        from pg_policy where polrelid = c.oid),
      (select string_agg(pg_get_triggerdef(oid) || E';\\n', '' order by tgname) from pg_trigger where tgrelid = c.oid and not tgisinternal)
    )) as line
  from pg_class c where c.relnamespace = ${ours} and c.relkind = 'r' order by c.relname collate "C"`;
