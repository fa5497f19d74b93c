import { claimStatements, expireStatement, failoverStatements } from "./claiming/index.ts";
import { appendStatements, cancelStatement } from "./journal/index.ts";
import { startStatements } from "./starting/index.ts";

/** The statements that write runs, in every form they are sent in, as SQL to review. */
export function statementsText(): string {
  const all = [
    ...startStatements(),
    ...appendStatements,
    cancelStatement,
    expireStatement,
    ...claimStatements,
    ...failoverStatements,
  ];
  return all
    .map(({ name, text }) => `-- ${name}\n${text.trim().replace(/ +$/gm, "")};\n`)
    .join("\n");
}
