import type { Column, Parameters } from "../../base/database/index.ts";
import type { Parts } from "./start-parts.ts";
import { authenticated, type StartRow } from "./start-row.ts";

/**
 * The columns of the start statement's table of callers. Rows share a caller only if all these
 * columns are equal, so the statement can read none of them from another row's request.
 */
export const callerColumns = {
  source: ["text", (row) => row.source],
  credential: ["bytea", ({ caller }) => (caller.kind === "credential" ? caller.hash : null)],
  agent: ["text", (row) => row.agentId],
  authenticated_as: ["text", ({ caller }) => authenticated(caller)?.principal ?? null],
  workspace: ["text", ({ caller }) => authenticated(caller)?.workspaceId ?? null],
  content_type: ["text", (row) => row.contentType],
  body: ["text", (row) => row.body],
  has_capacity: ["boolean", (row) => row.hasCapacity],
  owner: ["text", (row) => row.owner],
  detailed: ["boolean", (row) => row.details !== undefined],
  receiving_version: ["int", (row) => row.receivingVersion ?? 0],
  holds: ["boolean", (row) => row.received?.holds ?? false],
} as const satisfies Readonly<Record<string, Column<StartRow>>>;

/** The columns that only the variants of the statement with the given part have. */
const partOfColumn: Partial<Record<string, keyof Parts>> = {
  receiving_version: "triggers",
  holds: "received",
} satisfies Partial<Record<keyof typeof callerColumns, keyof Parts>>;

/** Returns the SQL of the table `c` of callers. */
export function callersTable<Input extends { readonly callers: readonly StartRow[] }>(
  p: Parameters<Input>,
  parts: Parts,
): string {
  const columns = Object.entries<Column<StartRow>>(callerColumns).filter(([column]) => {
    const part = partOfColumn[column];
    return part === undefined || parts[part];
  });
  return p.rows("c", (input) => input.callers, Object.fromEntries(columns)).table;
}

/**
 * Groups the rows by `callerColumns`, so that the statement checks each caller once.
 * @returns `callers`: one row of each group. `callerOf`: for each row the position of its group in
 *   `callers`, counted from 1.
 */
export function groupByCaller(rows: readonly StartRow[]): {
  callers: StartRow[];
  callerOf: number[];
} {
  const callers: StartRow[] = [];
  const known = new Map<string, number>();
  const callerOf = rows.map((row) => {
    const id = identify(row);
    const caller = known.get(id) ?? callers.push(row);
    known.set(id, caller);
    return caller;
  });
  return { callers, callerOf };
}

const readers = Object.values<Column<StartRow>>(callerColumns).map(([, read]) => read);

/** Returns a text that is equal for two rows only if they share a caller. */
function identify(row: StartRow): string {
  let id = "";
  for (const read of readers) {
    const value = read(row);
    const isBuffer = value !== null && typeof value === "object";
    const part = isBuffer ? value.toString("latin1") : value;
    // The length separates texts, which can contain any character.
    id += typeof part === "string" ? `${part.length} ${part}` : `${part} `;
  }
  return id;
}
