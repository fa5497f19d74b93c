import { createHash } from "node:crypto";
import { type Pool, Query, type QueryResult, type QueryResultRow } from "pg";
import { type ElementValues, encodeArray } from "./binary-array.ts";

/** A column's type and the function that returns its value in a row. */
export type Column<Row> = {
  [Type in keyof ElementValues]: readonly [type: Type, value: (row: Row) => ElementValues[Type]];
}[keyof ElementValues];

/** Rows that are sent as parameters, one array per column. */
export interface RowsTable {
  /**
   * SQL for a FROM clause: `unnest(…) with ordinality as alias (columns…, position)`. `position`
   * starts at 1.
   */
  readonly table: string;
  /** SQL of one column's array, for example for `id = any (…)`. */
  column(name: string): string;
}

/** Assigns parameter numbers while the text of a statement is built. */
export interface Parameters<Input> {
  /**
   * Declares parameters for the rows that `select(input)` returns. `columns` maps the name of each
   * column to its type and the function that returns its value.
   */
  rows<Row>(
    alias: string,
    select: (input: Input) => readonly Row[],
    columns: Readonly<Record<string, Column<Row>>>,
  ): RowsTable;
  /**
   * Like `rows`, for a table with many numbers. `numbers` maps the names of further columns, of
   * type bigint, to the functions that return their values. All numbers are sent in one array:
   * PostgreSQL copies each array of an `unnest` into a buffer of its own, which takes longer than
   * picking the numbers from one array. `columns` must not be empty.
   */
  rowsWithNumbers<Row>(
    alias: string,
    select: (input: Input) => readonly Row[],
    columns: Readonly<Record<string, Column<Row>>>,
    numbers: Readonly<Record<string, (row: Row) => number | null>>,
  ): RowsTable;
  /**
   * Declares a parameter for the value `of(input)` of an SQL type. Example: `value("text[]",
   * (input) => input.ids)`. Returns the SQL of the parameter.
   */
  value(type: string, of: (input: Input) => unknown): string;
}

/**
 * Sent instead of null in the array of `rowsWithNumbers`, and converted to null by the statement.
 * In an array with nulls, PostgreSQL would visit all elements before the one that is picked.
 */
const nullNumber = Number.MIN_SAFE_INTEGER;

/** A prepared statement whose parameters are taken from an `Input`. */
export interface Statement<Input> {
  /** Each connection prepares the statement under this name, shortened if it is long. */
  readonly name: string;
  readonly text: string;
  /** Returns the query in the form that `pg` accepts. */
  query(input: Input): { name: string; text: string; values: unknown[] };
  /**
   * Sends the query over a connection of the pool. For the statements of every run this is faster
   * than `pool.query(statement.query(input))`: `pg` copies a plain query object with all property
   * descriptors, which takes longer than encoding the values of one run. An instance of `Query`, a
   * class of `pg`, is sent without a copy.
   */
  send<Row extends QueryResultRow>(pool: Pool, input: Input): Promise<QueryResult<Row>>;
}

/**
 * Returns SQL: the items, separated by commas. An item that is empty or false is left out, so that
 * variants of a statement can have different columns or common table expressions.
 */
export const sqlList = (...items: readonly (string | false)[]): string =>
  items.filter(Boolean).join(", ");

/**
 * Creates a prepared statement. Parameters are declared where the text uses them, so that values
 * and parameter numbers always match.
 *
 * @example
 * const rename = statement<Rename[]>("rename", (p) => {
 *   const names = p.rows("n", (input) => input, { id: ["text", (row) => row.id], name: ["text", (row) => row.name] });
 *   return `update agents a set name = n.name from ${names.table} where a.id = n.id`;
 * });
 * await database.engine.query(rename.query(rows));
 */
export function statement<Input>(
  name: string,
  write: (parameters: Parameters<Input>) => string,
): Statement<Input> {
  // The text and the encoders are built once, because every start and every step of a run executes
  // these statements.
  const encoders: ((input: Input, values: unknown[]) => void)[] = [];
  let count = 0;
  const parameters: Parameters<Input> = {
    rows(alias, select, columns) {
      const names = Object.keys(columns);
      const arrays = new Map<string, string>();
      for (const [column, [type]] of Object.entries(columns)) {
        count += 1;
        arrays.set(column, `$${count}::${type}[]`);
      }
      const encoded = Object.values(columns);
      encoders.push((input, values) => {
        const rows = select(input);
        for (const [type, value] of encoded) values.push(encodeArray(type, rows, value));
      });
      return {
        table: `unnest(${[...arrays.values()].join(", ")}) with ordinality as ${alias} (${names.join(", ")}, position)`,
        column(wanted) {
          const array = arrays.get(wanted);
          if (array === undefined) throw new Error(`${name}: ${alias} has no column ${wanted}`);
          return array;
        },
      };
    },
    rowsWithNumbers(alias, select, columns, numbers) {
      const { table, column } = parameters.rows(alias, select, columns);
      const readers = Object.values(numbers);
      const pack = (input: Input) => {
        const packed: number[] = [];
        for (const row of select(input))
          for (const read of readers) packed.push(read(row) ?? nullNumber);
        return packed;
      };
      const packed = parameters.rows("packed", pack, { number: ["bigint", (number) => number] });
      const picked = Object.keys(numbers).map((number, index) => {
        const offset = `${readers.length} * (${alias}.position::int - 1) + ${index + 1}`;
        return `nullif((${packed.column("number")})[${offset}], ${nullNumber}) as ${number}`;
      });
      return {
        table: `(select ${alias}.*, ${picked.join(", ")} from ${table}) as ${alias}`,
        column,
      };
    },
    value(type, of) {
      encoders.push((input, values) => values.push(of(input)));
      count += 1;
      return `$${count}::${type}`;
    },
  };
  const text = write(parameters);
  const preparedName = uniqueName(name);
  const valuesOf = (input: Input) => {
    const values: unknown[] = [];
    for (const encode of encoders) encode(input, values);
    return values;
  };
  return {
    name,
    text,
    query: (input) => ({ name: preparedName, text, values: valuesOf(input) }),
    send<Row extends QueryResultRow>(pool: Pool, input: Input) {
      const query = Object.assign(new Query<Row>(text, valuesOf(input)), {
        name: preparedName,
      });
      // The types of `pg` do not say that a pool returns a promise for a `Query`, too.
      return pool.query(query) as unknown as Promise<QueryResult<Row>>;
    },
  };
}

/** PostgreSQL ignores all bytes of a name after this many. */
const maxNameBytes = 63;

/** Returns a name by which PostgreSQL distinguishes the statement from all others. */
function uniqueName(name: string): string {
  if (name.length <= maxNameBytes) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 16);
  return `${name.slice(0, maxNameBytes - hash.length - 1)}:${hash}`;
}
