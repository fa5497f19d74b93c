import {
  reserveAtOnceStatement,
  reserveStatements,
  returnStatements,
  waitRecordStatements,
} from "../reservations/index.ts";
import {
  claimStatements,
  dropHeldStatement,
  endRestoredStatements,
  expireStatement,
  failoverStatements,
  releaseStatement,
} from "./claiming/index.ts";
import { appendStatements, cancelStatement } from "./journal/index.ts";
import { reachedStatement } from "./reached-statement.ts";
import { startStatements } from "./starting/index.ts";

/**
 * Returns the SQL of the statements that write runs and reservations, for `runs/statements.sql`.
 * That file shows reviewers how a change of the code changes the SQL. Of the many variants of the
 * start statement, it contains only those that `startStatements` returns.
 */
export function statementsText(): string {
  const all = [
    ...startStatements(),
    ...appendStatements,
    cancelStatement,
    expireStatement,
    dropHeldStatement,
    ...endRestoredStatements,
    releaseStatement,
    ...claimStatements,
    ...failoverStatements,
    reserveAtOnceStatement,
    ...reserveStatements,
    ...waitRecordStatements,
    reachedStatement,
    ...returnStatements,
  ];
  return all
    .map(({ name, text }) => `-- ${name}\n${text.trim().replace(/ +$/gm, "")};\n`)
    .join("\n");
}
